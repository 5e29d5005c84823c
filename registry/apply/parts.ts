/** What a comparison has found so far: parts of sets of fields, by element. */
import { sortElements } from './elements.js'
import { part, EMPTY, type FieldSet } from './field-set.js'
import { finish, type Steps } from '../../schemas/steps.js'

/** Partial results; undefined for an empty set. */
export interface Parts { readonly changed: FieldSet | undefined, readonly removed: FieldSet | undefined }

export const CHANGED: Parts = { changed: EMPTY, removed: undefined }

export class PartsBuilder {
  #changed: Array<[string, FieldSet]> | undefined
  #removed: Array<[string, FieldSet]> | undefined

  add (element: string, { changed, removed }: Parts): void {
    if (changed !== undefined) (this.#changed ??= []).push([element, changed])
    if (removed !== undefined) (this.#removed ??= []).push([element, removed])
  }

  addAll (other: PartsBuilder): void {
    for (const entry of other.#changed ?? []) (this.#changed ??= []).push(entry)
    for (const entry of other.#removed ?? []) (this.#removed ??= []).push(entry)
  }

  /** Elements, those that both changed and were removed in part twice. */
  get size (): number { return (this.#changed?.length ?? 0) + (this.#removed?.length ?? 0) }

  parts (): Parts | undefined { return finish(this.partsInSteps()) }

  * partsInSteps (): Steps<Parts | undefined> {
    if (this.#changed === undefined && this.#removed === undefined) return undefined
    const changed = yield * inOrder(this.#changed ?? [])
    return { changed, removed: yield * inOrder(this.#removed ?? []) }
  }
}

function * inOrder (members: ReadonlyArray<[string, FieldSet]>): Steps<FieldSet | undefined> {
  if (members.length < 2) return part(false, members)
  const byElement = new Map(members)
  const sorted = sortElements([...byElement.keys()])
  yield
  const set = part(false, sorted.map(element => [element, byElement.get(element) ?? EMPTY]))
  yield
  return set
}
