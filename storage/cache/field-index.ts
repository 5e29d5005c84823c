/**
 * Which entries of a type have a value in one of the fields that are often selected by, such as the node of a pod: a
 * list by it costs what it returns. Of the present state alone. Benchmark: `npm run bench -- forms`, 'pods of one node,
 * protobuf, public names': 44 ms before.
 */
import type { FieldValues } from '../../schemas/selectors/fields.js'
import type { Entry } from './entry.js'

/** A field that must have a value: its place among the values of entries. */
export interface Required { readonly at: number, readonly value: string }

export class FieldIndex {
  /** By place, then value. */
  readonly #keys: ReadonlyMap<number, Map<string, Set<string>>>

  /** @param places of the fields */
  constructor (places: readonly number[]) { this.#keys = new Map(places.map(at => [at, new Map()])) }

  /** The fewest keys, in no order, that have all entries with these values; undefined if no field is indexed. */
  keysWith (required: readonly Required[]): ReadonlySet<string> | undefined {
    let fewest: ReadonlySet<string> | undefined
    for (const { at, value } of required) {
      const byValue = this.#keys.get(at)
      if (byValue === undefined) continue
      const keys = byValue.get(value) ?? NONE
      if (fewest === undefined || keys.size < fewest.size) fewest = keys
    }
    return fewest
  }

  /** @param before the state that is replaced @param now undefined if the object is gone */
  change (key: string, before: Entry | undefined, now: Entry | undefined): void {
    for (const [at, byValue] of this.#keys) {
      const [old, next] = [valueOf(before?.fields, at), valueOf(now?.fields, at)]
      if (old === next) continue
      if (old !== undefined) this.#remove(byValue, old, key)
      if (next === undefined) continue
      const keys = byValue.get(next)
      if (keys === undefined) byValue.set(next, new Set([key]))
      else keys.add(key)
    }
  }

  clear (): void { for (const byValue of this.#keys.values()) byValue.clear() }

  #remove (byValue: Map<string, Set<string>>, value: string, key: string): void {
    const keys = byValue.get(value)
    keys?.delete(key)
    if (keys?.size === 0) byValue.delete(value)
  }
}

const NONE: ReadonlySet<string> = new Set()
const valueOf = (fields: FieldValues | undefined, at: number): string | undefined =>
  fields === undefined ? undefined : fields[at] ?? ''
