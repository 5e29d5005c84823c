/** The versions of a type. Each manager's fields use the version they were set in, and are compared in that version. */
import { compare, type Changes } from './compare.js'
import type { FieldSet } from './field-set.js'
import type { Shapes } from './shape.js'

export interface Versions {
  /** Undefined for a version that no longer exists; its field sets stay unchanged. */
  readonly shapes: (apiVersion: string) => Shapes | undefined
  /** Returns a new object in another version. */
  readonly convert: (object: object, from: string, to: string) => object
}

/** The differences between two objects, computed per version on demand. */
export class Comparison {
  readonly #versions: Versions
  readonly #from: string
  readonly #before: object
  readonly #after: object
  readonly #ignored: FieldSet
  readonly #known = new Map<string, Changes | undefined>()

  /** @param from the version of both objects */
  constructor (versions: Versions, from: string, before: object, after: object, ignored: FieldSet) {
    this.#versions = versions
    this.#from = from
    this.#before = before
    this.#after = after
    this.#ignored = ignored
  }

  /** Undefined for an unknown version. */
  in (apiVersion: string): Changes | undefined {
    let changes = this.#known.get(apiVersion)
    if (changes !== undefined) return changes
    const shapes = this.#versions.shapes(apiVersion)
    const convert = (object: object): object => apiVersion === this.#from ? object : this.#versions.convert(object, this.#from, apiVersion)
    changes = shapes === undefined ? undefined : compare(shapes.owned, convert(this.#before), convert(this.#after), this.#ignored)
    this.#known.set(apiVersion, changes)
    return changes
  }
}
