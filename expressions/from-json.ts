/** JSON values as rules see them. Parts are converted when a rule first reads them. */
import { parseDuration } from '../schemas/meta/duration.js'
import { parseInstant } from './times.js'
import type { Type } from './types.js'
import { Fault, Instant, Items, Span, type Dict, type Key, type Value } from './values.js'

type Members = Readonly<Record<string, unknown>>
const isMembers = (json: unknown): json is Members => typeof json === 'object' && json !== null && !Array.isArray(json)

/** The value of a field with that type; a Fault if the type differs. */
export function fromJson (json: unknown, type: Type): Value {
  if (json === null || json === undefined) {
    return type.nullable === true ? null : new Fault('invalid data, got null for schema with nullable=false')
  }
  switch (type.kind) {
    case 'list': return Array.isArray(json) ? new JsonList(json, type) : wrong('an array', json)
    case 'map': return isMembers(json) ? new JsonMap(json, type) : wrong('an object', json)
    case 'object': return isMembers(json) ? new JsonObject(json, type) : wrong('an object', json)
    case 'int': return integer(json) ?? wrong('an integer', json)
    case 'double': return typeof json === 'number' || typeof json === 'bigint' ? Number(json) : wrong('a number', json)
    case 'bool': return typeof json === 'boolean' ? json : wrong('a boolean', json)
    case 'dyn': return typeof json === 'string' ? json : integer(json) ?? wrong('a string or integer', json)
    default: return typeof json === 'string' ? ofText(json, type) : wrong('a string', json)
  }
}

const wrong = (wanted: string, json: unknown): Fault =>
  new Fault(
    `invalid data, expected ${wanted}, but got ${json === null ? 'null' : Array.isArray(json) ? 'array' : typeof json}`
  )

function integer (json: unknown): bigint | undefined {
  if (typeof json === 'bigint') return json
  return typeof json === 'number' && Number.isInteger(json) ? BigInt(json) : undefined
}

function ofText (json: string, { kind }: Type): Value {
  if (kind === 'bytes') return Buffer.from(json, 'base64')
  if (kind === 'timestamp') {
    const nanoseconds = parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(json) ? `${json}T00:00:00Z` : json.toUpperCase())
    return nanoseconds === undefined
      ? new Fault(`Invalid date formatted string ${JSON.stringify(json)}`)
      : new Instant(nanoseconds)
  }
  if (kind !== 'duration') return json
  const nanoseconds = parseDuration(json)
  return nanoseconds === undefined
    ? new Fault(`Invalid duration formatted string ${JSON.stringify(json)}`)
    : new Span(nanoseconds)
}

class JsonList extends Items {
  readonly #json: readonly unknown[]
  readonly #type: Type
  readonly #items: Value[] = []
  #isComplete = false

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

  get items (): readonly Value[] {
    if (!this.#isComplete) for (let index = 0; index < this.#json.length; index++) this.at(index)
    this.#isComplete = true
    return this.#items
  }
}

/** Caches what was read. */
abstract class Lazy implements Dict {
  protected readonly json: Members
  protected readonly type: Type
  readonly #read = new Map<Key, Value | undefined>()
  #keys: readonly string[] | undefined

  constructor (json: Members, type: Type) {
    this.json = json
    this.type = type
  }

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

class JsonMap extends Lazy {
  protected list (): readonly string[] { return Object.keys(this.json) }
  protected read (key: string): Value | undefined {
    return Object.hasOwn(this.json, key) && this.type.of !== undefined
      ? fromJson(this.json[key], this.type.of)
      : undefined
  }
}

/** Fields without schema are not visible. */
class JsonObject extends Lazy {
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

const isSent = (json: Members, member: string): boolean => Object.hasOwn(json, member) && json[member] !== undefined
