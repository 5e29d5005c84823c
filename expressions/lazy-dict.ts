/** Dictionaries of string keys whose values are read when they are asked for, and once. */
import type { Dict, Key, Value } from './values.js'

export abstract class LazyDict implements Dict {
  readonly #read = new Map<Key, Value | undefined>()
  #keys: readonly string[] | undefined

  get size (): number { return this.keys().length }
  keys (): readonly string[] { return this.#keys ??= this.list() }

  get (key: Key): Value | undefined {
    if (typeof key !== 'string') return undefined
    if (!this.#read.has(key)) this.#read.set(key, this.read(key))
    return this.#read.get(key)
  }

  protected abstract list (): readonly string[]
  protected abstract read (key: string): Value | undefined
}
