/** The versions of a type: each manager's fields are in the words of the version they were set in, and compared in these. */
import { compare } from './compare.js'
import type { Changes } from './compare.js'
import type { FieldSet } from './field-set.js'
import type { Shapes } from './shape.js'

export interface Versions {
  /** Undefined for a version that is not there (any more): what is owned in it stays as it is. */
  readonly shapes: (apiVersion: string) => Shapes | undefined
  /** The object in another of its versions; a new one. */
  readonly convert: (object: object, from: string, to: string) => object
}

/** What differs between two objects, by version; found out when it is first asked for. */
export class Comparison {
  readonly #versions: Versions
  readonly #from: string
  readonly #before: object
  readonly #after: object
  readonly #ignored: FieldSet
  readonly #known = new Map<string, Changes | undefined>()

  /** @param from the version both objects are in */
  constructor (versions: Versions, from: string, before: object, after: object, ignored: FieldSet) {
    this.#versions = versions
    this.#from = from
    this.#before = before
    this.#after = after
    this.#ignored = ignored
  }

  /** Undefined for a version that is not there. */
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
