/** The versions of a type. Each manager's fields use the version they were set in, and are compared in that version. */
import type { Steps, WaitingSteps } from '../../schemas/steps.js'
import { comparing, UNCHANGED, type Changes } from './compare.js'
import type { FieldSet } from './field-set.js'
import type { Shapes } from './shape.js'

type Objects = readonly object[]

export interface Versions {
  /** Undefined for a version that the type no longer has. */
  readonly shapes: (apiVersion: string) => Shapes | undefined
  /** Returns new objects in another version, in the same order; a promise if a webhook converts. */
  readonly convert: (objects: Objects, from: string, to: string) => Objects | Promise<Objects>
}

/** Converts one object; waits for a webhook. */
export function * convertOne (versions: Versions, object: object, from: string, to: string): WaitingSteps<object> {
  const [converted = object] = yield * converting(versions, [object], from, to)
  return converted
}

function * converting ({ convert }: Versions, objects: Objects, from: string, to: string): WaitingSteps<Objects> {
  const result = convert(objects, from, to)
  if (!(result instanceof Promise)) return result
  let converted: readonly object[] = []
  yield result.then(value => { converted = value })
  return converted
}

/** What is compared, and for whom. */
export interface Compared {
  readonly versions: Versions
  /** The version of both objects. */
  readonly from: string
  readonly before: object
  readonly after: object
  /** Fields to skip, in every version. */
  readonly ignored: FieldSet
}

/** The differences between two objects, computed per version on demand. */
export class Comparison {
  /** In the version of both objects, which most managers use and which needs no conversion. */
  readonly own: Changes
  readonly #compared: Compared
  readonly #known = new Map<string, Changes | undefined>()

  private constructor (compared: Compared, own: Changes) {
    this.#compared = compared
    this.own = own
    this.#known.set(compared.from, own)
  }

  static * of (compared: Compared): Steps<Comparison> {
    const { versions, from, before, after, ignored } = compared
    const shapes = versions.shapes(from)
    return new Comparison(
      compared, shapes === undefined ? UNCHANGED : yield * comparing(shapes.owned, before, after, ignored)
    )
  }

  /** Undefined for a version that the type no longer has. */
  * in (apiVersion: string): WaitingSteps<Changes | undefined> {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion)
    const changes = yield * this.#compare(apiVersion)
    this.#known.set(apiVersion, changes)
    return changes
  }

  * #compare (apiVersion: string): WaitingSteps<Changes | undefined> {
    const { versions, from, before, after, ignored } = this.#compared
    const shapes = versions.shapes(apiVersion)
    if (shapes === undefined) return undefined
    const [older, newer] = yield * converting(versions, [before, after], from, apiVersion)
    return older === undefined || newer === undefined
      ? UNCHANGED
      : yield * comparing(shapes.owned, older, newer, ignored)
  }
}
