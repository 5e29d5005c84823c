/**
 * A value of an update beside the old one in the same place, as far as it can be found: members by name, items of lists
 * of type map by their keys.
 */
import { sortedJson } from '../../codec/json/escape.js'
import type { Plain } from '../../language/types.js'
import { isObject } from '../../language/values.js'
import { isSchema, type JSONSchemaProps as Schema } from './schemas.js'

/** The keys that make an item of a list unique; those not sent have their default. @param items schema of the items */
export function keysOf (items: unknown, item: unknown, keys: readonly string[]): Plain {
  const properties = isSchema(items) ? items.properties ?? {} : {}
  const members = isObject(item) ? item : {}
  return Object.fromEntries(
    keys.map(key => [key, members[key] ?? properties[key]?.default]).filter(([, value]) => value !== undefined)
  )
}

export class Correlation {
  readonly schema: Schema
  readonly value: unknown
  readonly old: unknown
  #isSame: boolean | undefined
  #byKeys: ReadonlyMap<string, unknown> | undefined

  constructor (schema: Schema, value: unknown, old: unknown) {
    this.schema = schema
    this.value = value
    this.old = old
  }

  /** Whether the value is unchanged. */
  get isSame (): boolean { return this.#isSame ??= this.#compare() }

  /** A member that both have. */
  member (name: string): Correlation | undefined {
    const { schema: { properties = {}, additionalProperties }, value, old } = this
    if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined
    const part = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    return new Correlation(isSchema(part) ? part : {}, value[name], old[name])
  }

  /** An item of a list of type map; others have no old self. */
  item (index: number): Correlation | undefined {
    const { schema: { items, 'x-orch-list-type': type }, value, old } = this
    if (type !== 'map' || !Array.isArray(value) || !Array.isArray(old)) return undefined
    this.#byKeys ??= new Map(old.map(item => [this.#identity(item), item]))
    const before = this.#byKeys.get(this.#identity(value[index]))
    return before === undefined ? undefined : new Correlation(isSchema(items) ? items : {}, value[index], before)
  }

  #identity (item: unknown): string {
    const { items, 'x-orch-list-map-keys': keys = [] } = this.schema
    return sortedJson(keysOf(items, item, keys))
  }

  #compare (): boolean {
    const { value, old, schema } = this
    if (value === old) return true
    if (Array.isArray(value)) {
      return Array.isArray(old) && value.length === old.length && value.every((item: unknown, index) =>
        schema['x-orch-list-type'] === 'map' ? this.item(index)?.isSame === true : this.#beside(item, old[index]))
    }
    if (!isObject(value) || !isObject(old)) return false
    const names = Object.keys(value)
    return names.length === Object.keys(old).length && names.every(name => this.member(name)?.isSame === true)
  }

  #beside (item: unknown, old: unknown): boolean {
    const { items } = this.schema
    return new Correlation(isSchema(items) ? items : {}, item, old).isSame
  }
}
