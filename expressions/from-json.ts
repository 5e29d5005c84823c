/** JSON values as rules see them. Parts are converted when a rule first reads them. */
import { parseWordedDuration } from '../schemas/meta/duration.js'
import { LazyDict } from './lazy-dict.js'
import { parseInstant, textOfTime } from './times.js'
import { unescapeName } from './names.js'
import { DYN, type Type } from './types.js'
import {
  Deferred, Entries, Fault, Instant, isDict, Items, Opaque, Optional, Span, Uint, type Dict, type Key, type Value
} from './values.js'

type Members = Readonly<Record<string, unknown>>
const isMembers = (json: unknown): json is Members => typeof json === 'object' && json !== null && !Array.isArray(json)

/** The value of a field with that type; a Fault if the type differs. */
export function fromJson (json: unknown, type: Type): Value {
  if (isValue(json)) return json
  if (json instanceof Given) return json.value
  if (type.kind === 'optional') {
    return json === undefined ? new Optional() : new Optional(fromJson(json, type.of ?? DYN))
  }
  if (json === null || json === undefined) {
    return type.nullable === true || type.kind === 'dyn'
      ? null
      : new Fault('invalid data, got null for schema with nullable=false')
  }
  switch (type.kind) {
    case 'list': return Array.isArray(json) ? new JsonList(json, type) : wrong('an array', json)
    case 'map': return isMembers(json) ? new JsonMap(json, type) : wrong('an object', json)
    case 'object': return isMembers(json) ? new JsonObject(json, type) : wrong('an object', json)
    case 'int': return integer(json) ?? wrong('an integer', json)
    case 'double': return typeof json === 'number' || typeof json === 'bigint' ? Number(json) : wrong('a number', json)
    case 'bool': return typeof json === 'boolean' ? json : wrong('a boolean', json)
    case 'dyn': return anyOf(json)
    case 'uint': return new Uint(integer(json) ?? 0n)
    default: return typeof json === 'string' ? ofText(json, type) : wrong('a string', json)
  }
}

/** A value that is given as it is, whatever the type of its variable. */
export class Given { constructor (readonly value: Value) {} }

/** Callers may make values themselves. */
const isValue = (json: unknown): json is Value => json instanceof Opaque || json instanceof Optional ||
  json instanceof Items || json instanceof Entries || json instanceof Deferred || json instanceof DeferredFields ||
  json instanceof Fault

/** What JSON says by itself. */
function anyOf (json: unknown): Value {
  switch (typeof json) {
    case 'string': case 'boolean': case 'bigint': return json
    case 'number': return integer(json) ?? json
    default:
      if (Array.isArray(json)) return new JsonList(json, ANY_LIST)
      return isMembers(json) ? new JsonMap(json, ANY_MAP) : null
  }
}
const ANY_LIST: Type = { kind: 'list', of: DYN }
const ANY_MAP: Type = { kind: 'map', of: DYN }

const wrong = (wanted: string, json: unknown): Fault =>
  new Fault(
    `invalid data, expected ${wanted}, but got ${json === null ? 'null' : Array.isArray(json) ? 'array' : typeof json}`
  )

function integer (json: unknown): bigint | undefined {
  if (typeof json === 'bigint') return json
  return typeof json === 'number' && Number.isInteger(json) ? BigInt(json) : undefined
}

function ofText (json: string, { kind }: Type): Value {
  if (kind === 'string') return json
  if (kind === 'bytes') return Buffer.from(json, 'base64')
  if (kind === 'timestamp') {
    const nanoseconds = parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(json) ? `${json}T00:00:00Z` : json.toUpperCase())
    return nanoseconds === undefined
      ? new Fault(`Invalid date formatted string ${JSON.stringify(json)}`)
      : new Instant(nanoseconds)
  }
  if (kind !== 'duration') return json
  const nanoseconds = parseWordedDuration(json)
  return nanoseconds === undefined
    ? new Fault(`Invalid duration formatted string ${JSON.stringify(json)}`)
    : new Span(nanoseconds)
}

class JsonList extends Items {
  readonly #json: readonly unknown[]
  readonly #type: Type
  readonly #items: Value[] = []

  constructor (json: readonly unknown[], type: Type) {
    super(type.identity)
    this.#json = json
    this.#type = type
  }

  get size (): number { return this.#json.length }

  at (index: number): Value | undefined {
    if (index < 0 || index >= this.#json.length || this.#type.of === undefined) return undefined
    return this.#items[index] ??= fromJson(this.#json[index], this.#type.of)
  }
}

/** JSON whose values are of a declared type. */
abstract class Typed extends LazyDict {
  protected readonly json: Members
  protected readonly type: Type

  constructor (json: Members, type: Type) {
    super()
    this.json = json
    this.type = type
  }
}

class JsonMap extends Typed {
  protected list (): readonly string[] { return Object.keys(this.json) }
  protected read (key: string): Value | undefined {
    return Object.hasOwn(this.json, key) && this.type.of !== undefined
      ? fromJson(this.json[key], this.type.of)
      : undefined
  }
}

/** Fields without schema are not visible, and null is a field that is not set, as upstream. */
class JsonObject extends Typed {
  protected list (): readonly string[] {
    return [...this.type.fields ?? []].flatMap(([name, { member }]) => isSent(this.json, member) ? [name] : [])
  }

  protected read (key: string): Value | undefined {
    const field = this.type.fields?.get(key)
    return field !== undefined && isSent(this.json, field.member)
      ? fromJson(this.json[field.member], field.type)
      : undefined
  }
}

const isSent = (json: Members, member: string): boolean => Object.hasOwn(json, member) && json[member] !== undefined &&
  json[member] !== null

/** An object whose members are evaluated when they are first read. Its type has to be `deferred`. */
export class DeferredFields implements Dict {
  readonly #fields: ReadonlyMap<Key, Deferred>
  constructor (fields: ReadonlyMap<Key, Deferred>) { this.#fields = fields }
  get size (): number { return this.#fields.size }
  get (key: Key): Value | undefined { return this.#fields.get(key) }
  keys (): readonly Key[] { return [...this.#fields.keys()] }
}

/** The JSON of a value: what an expression made. Undefined if it has none. */
export function toJson (value: Value): unknown {
  if (value === null || typeof value !== 'object') return typeof value === 'bigint' ? number(value) : value
  if (value instanceof Uint) return number(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Instant || value instanceof Span) return textOfTime(value)
  if (value instanceof Items) return Array.from(value, toJson)
  if (value instanceof Optional) return value.value === undefined ? undefined : toJson(value.value)
  if (value instanceof Opaque || value instanceof URL) return String(value)
  if (!isDict(value)) return undefined
  const isMade = value instanceof Entries && value.struct !== undefined
  const name = (key: Key): string => isMade ? unescapeName(String(key)) : String(key)
  return Object.fromEntries(value.keys().map(key => [name(key), toJson(value.get(key) ?? null)]))
}

const number = (value: bigint): number | bigint =>
  BigInt.asIntN(54, value) === value ? Number(value) : value
