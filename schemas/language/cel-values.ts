/**
 * Objects of declared messages as expressions read their JSON, without writing and parsing it: a policy mostly reads
 * two members of a large object. Members are converted when they are first read.
 */
import { fromJson } from '../../expressions/from-json.js'
import { LazyDict } from '../../expressions/lazy-dict.js'
import { DYN } from '../../expressions/types.js'
import { Items, type Value } from '../../expressions/values.js'
import { elementJson, fieldJson } from '../codec/json/encode.js'
import { sortedKeys } from '../codec/json/escape.js'
import { parseLong } from '../codec/json/exact.js'
import { isOfType, planOf, type Plan, type PlannedField } from './plan.js'
import type { Message, Plain } from './types.js'

const NOTHING: Plain = Object.freeze({})

/** Of a message that is neither special nor a union. */
export const celValueOf = <T>(message: Message<T>, object: T & object): Value =>
  new Members(planOf(message), object as Plain)

class Members extends LazyDict {
  readonly #plan: Plan
  readonly #object: Plain

  constructor (plan: Plan, object: Plain) {
    super()
    this.#plan = plan
    this.#object = object
  }

  protected list (): string[] {
    const { fields, message: { type, preserveUnknown } } = this.#plan
    const names = type === undefined ? [] : ['kind', 'apiVersion']
    for (const { jsonName } of fields) names.push(jsonName)
    if (preserveUnknown !== false) {
      for (const name of sortedKeys(this.#object)) if (!names.includes(name)) names.push(name)
    }
    return names.filter(name => this.get(name) !== undefined)
  }

  protected read (name: string): Value | undefined {
    const { byName, message: { type, preserveUnknown } } = this.#plan
    const field = byName.get(name)
    if (field !== undefined) return valueOf(field, this.#object[field.name])
    if (!Object.hasOwn(this.#object, name)) return undefined
    const value = this.#object[name]
    if (type !== undefined && (name === 'kind' || name === 'apiVersion')) {
      return typeof value === 'string' && value !== '' ? value : undefined
    }
    return preserveUnknown === false || value === undefined ? undefined : fromJson(value, DYN)
  }
}

class MapOf extends LazyDict {
  readonly #field: PlannedField
  readonly #map: Plain

  constructor (field: PlannedField, map: Plain) {
    super()
    this.#field = field
    this.#map = map
  }

  protected list (): readonly string[] { return sortedKeys(this.#map) }

  protected read (key: string): Value | undefined {
    return Object.hasOwn(this.#map, key) ? elementOf(this.#field, this.#map[key]) : undefined
  }
}

class ListOf extends Items {
  readonly #field: PlannedField
  readonly #items: readonly unknown[]
  readonly #read: Value[] = []

  constructor (field: PlannedField, items: readonly unknown[]) {
    super()
    this.#field = field
    this.#items = items
  }

  get size (): number { return this.#items.length }

  at (index: number): Value | undefined {
    if (index < 0 || index >= this.#items.length) return undefined
    return this.#read[index] ??= elementOf(this.#field, this.#items[index])
  }
}

/** Undefined for a field that JSON omits. */
function valueOf (field: PlannedField, value: unknown): Value | undefined {
  const { shape, scalar, message, special, alternatives } = field
  const isSet = value !== undefined && value !== null
  if (isSet && !(field.anyType && !isOfType(field, value))) {
    if (shape === 'list') {
      const items = value as readonly unknown[] // the shape of the field
      return items.length > 0 || field.written || field.pointer ? new ListOf(field, items) : undefined
    }
    if (shape === 'map') {
      const map = value as Plain // the shape of the field
      return Object.keys(map).length > 0 || field.written || field.pointer ? new MapOf(field, map) : undefined
    }
    if (scalar !== undefined) {
      return value === field.zero && !field.pointer && !field.written ? undefined : fromJson(value, DYN)
    }
  }
  const isObject = isSet ? shape === 'one' && isOfType(field, value) : value === undefined && field.embedded
  if (isObject && message !== undefined && special === undefined && !alternatives) {
    return new Members(field.plan, (value ?? NOTHING) as Plain)
  }
  // What is rare is written and parsed.
  return ofText(fieldJson(field, value))
}

function elementOf (field: PlannedField, value: unknown): Value {
  const { scalar, element, special, alternatives } = field
  if (scalar !== undefined) return fromJson(value ?? field.zero, DYN)
  if (element !== undefined) return valueOf(element, value) ?? null
  if (special === undefined && !alternatives) return new Members(field.plan, (value ?? NOTHING) as Plain)
  return ofText(elementJson(field, value)) ?? null
}

const ofText = (text: string | undefined): Value | undefined =>
  text === undefined ? undefined : fromJson(parseLong(text), DYN)
