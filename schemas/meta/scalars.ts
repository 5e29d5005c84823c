/** Types of meta v1 with a JSON form of their own: times, durations, raw JSON, verbs. */
import { int32, int64, bytes, list, type Special } from '../language/declare.js'
import type { ValueBudget } from '../language/types.js'
import { message, special } from './package.js'
import { nameOfType } from '../language/decode-error.js'
import { formatDuration, parseDuration } from './duration.js'
import { formatTime, isZeroTime, parseTime } from './time.js'
import { quote, rawJson } from '../codec/json/escape.js'
import { countValues, parseJson, tooManyValues, UNBOUNDED } from '../codec/json/parse.js'
import { MAX_VALUES } from '../limits.js'
import { Reader, Scratch, VARINT, BYTES, bytesTag } from '../codec/protobuf/wire.js'
import { oncePer } from '../once-per.js'

const NOTHING = new Uint8Array(0)
const scratch = new Scratch(4096)

/** As upstream, MicroTime must have exactly six decimals. */
const MICROSECONDS = /:\d{2}[.,]\d{6}(?:Z|[+-]\d{2}:\d{2})$/

const pointInTime = (digits: 0 | 6): Special<string> => ({
  decode: (value, refuse) => {
    const expected = digits === 0 ? 'a time such as 2006-01-02T15:04:05Z' : 'a time such as 2006-01-02T15:04:05.000000Z'
    if (typeof value !== 'string') return refuse(expected)
    const instant = parseTime(value)
    if (instant === undefined || (digits === 6 && !MICROSECONDS.test(value))) return refuse(expected)
    const text = formatTime(instant, digits) ?? refuse(`${expected}, of the years 0 to 9999`)
    return isZeroTime(text) ? undefined : text
  },
  json: value => value === undefined ? 'null' : quote(value),
  toProtobuf: value => {
    const instant = value === undefined ? undefined : parseTime(value)
    if (instant === undefined) return NOTHING
    const writer = scratch.take()
    writer.integer(digits === 0 ? 0 : instant.nanos - instant.nanos % 1000)
    writer.varint(2 << 3)
    writer.integer(instant.seconds)
    writer.varint(1 << 3)
    return writer.finish()
  },
  fromProtobuf: body => {
    if (body.length === 0) return undefined
    const fields = integers(body)
    const text = formatTime({ seconds: fields[1] ?? 0, nanos: digits === 0 ? 0 : Math.abs(fields[2] ?? 0) }, digits)
    return text === undefined || isZeroTime(text) ? undefined : text
  },
  openapi: { type: 'string', format: 'date-time' }
})

/** Reads fields 1 and 2 of a message of integers. */
function integers (body: Uint8Array): { 1?: number, 2?: number } {
  const reader = new Reader(body)
  const fields: { 1?: number, 2?: number } = {}
  while (reader.at < reader.end) {
    const tag = reader.varint(reader.end)
    const number = tag >>> 3
    if ((tag & 7) === VARINT && (number === 1 || number === 2)) fields[number] = Number(reader.int64(reader.end))
    else reader.skip(tag & 7, reader.end)
  }
  return fields
}

/** Reads field 1, bytes. */
function wrapped (body: Uint8Array): Uint8Array | undefined {
  const reader = new Reader(body)
  let content: Uint8Array | undefined
  while (reader.at < reader.end) {
    const tag = reader.varint(reader.end)
    if (tag === bytesTag(1)) content = reader.bytes(reader.end)
    else reader.skip(tag & 7, reader.end)
  }
  return content
}

function rawMessage (text: string): Uint8Array {
  const writer = scratch.take()
  writer.string(text)
  writer.varint(bytesTag(1))
  return writer.finish()
}

/** Subtracts from the budget. @throws DecodeError when it is exhausted */
function spend (budget: ValueBudget, values: number): void {
  budget.valuesLeft -= values
  if (budget.valuesLeft < 0) throw tooManyValues(MAX_VALUES)
}

/** Raw JSON: any value in JSON, its text in field 1 in protobuf. */
export const jsonValue = (openapi: Special['openapi']): Special<unknown> => ({
  decode: value => value,
  json: rawJson,
  wraps: 'json',
  toProtobuf: value => value === undefined ? NOTHING : rawMessage(rawJson(value)),
  fromProtobuf: (body, budget) => {
    const raw = wrapped(body)
    if (raw === undefined || raw.length === 0) return undefined
    if (budget.valuesLeft === Infinity) return parseJson(raw, UNBOUNDED).value
    spend(budget, countValues(raw, UNBOUNDED).values)
    return parseJson(raw).value
  },
  openapi
})

export const Time = special('Time', 'A point in time, in whole seconds.', {
  seconds: int64(1, 'Seconds since 1970 in UTC.'),
  nanos: int32(2, 'Always 0.')
}, pointInTime(0))

export const MicroTime = special('MicroTime', 'A point in time, in microseconds.', {
  seconds: int64(1, 'Seconds since 1970 in UTC.'),
  nanos: int32(2, 'Nanoseconds within the second.')
}, pointInTime(6))

export const Timestamp = message('Timestamp', 'The wire form of points in time.', {
  seconds: int64(1, 'Seconds since 1970 in UTC.'),
  nanos: int32(2, 'Nanoseconds within the second.')
})

const tree = jsonValue({ type: 'object' })
/** Field sets are immutable, so their text is cached: it is written to the wire and to the store. */
const textOfFieldSet = oncePer((value: object) => tree.json(value))

const textOfTree = (value: unknown): string =>
  typeof value === 'object' && value !== null ? textOfFieldSet(value) : tree.json(value)

/**
 * Decoded field sets by their text, because most objects of a type have the same few. They are shared, and therefore
 * frozen.
 */
const knownTrees = new Map<string, { readonly tree: unknown, readonly values: number }>()
const MAX_CACHED = 512
const MAX_KNOWN = 8192

function treeOf (body: Uint8Array, budget: ValueBudget): unknown {
  const raw = wrapped(body)
  if (raw === undefined || raw.length > MAX_KNOWN) return tree.fromProtobuf(body, budget)
  const key = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1')
  let known = knownTrees.get(key)
  if (known === undefined) {
    known = {
      tree: frozen(tree.fromProtobuf(body, { valuesLeft: MAX_VALUES })),
      values: raw.length === 0 ? 0 : countValues(raw, UNBOUNDED).values
    }
    const [oldest] = knownTrees.keys()
    if (knownTrees.size === MAX_CACHED && oldest !== undefined) knownTrees.delete(oldest)
    knownTrees.set(key, known)
  }
  spend(budget, known.values)
  return known.tree
}

function frozen (value: unknown): unknown {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

export const FieldsV1 =
  special<unknown>('FieldsV1', 'A set of fields as a tree; its keys begin with f:, k:, v: or i:.', {
    Raw: bytes(1, 'The tree as JSON text.')
  }, {
    ...tree,
    decode: (value, refuse) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? value : refuse('an object'),
    json: textOfTree,
    toProtobuf: value => value === undefined ? NOTHING : rawMessage(textOfTree(value)),
    fromProtobuf: treeOf
  })

/** Any JSON value; no protobuf form. */
export const Anything = special<unknown>('Anything', 'Any value.', {}, jsonValue({}))

/** A list of strings with a protobuf message of its own, as map values need it. */
export const stringList: Special<string[]> = {
  decode: (value, refuse) => {
    if (!Array.isArray(value)) return refuse('a list')
    return value.map(item => typeof item === 'string' ? item : refuse(`a list of strings, not of ${nameOfType(item)}`))
  },
  json: value => value === undefined ? 'null' : `[${value.map(quote).join(',')}]`,
  toProtobuf: value => {
    const writer = scratch.take()
    for (const item of [...value ?? []].reverse()) {
      writer.string(item)
      writer.varint(bytesTag(1))
    }
    return writer.finish()
  },
  fromProtobuf: body => {
    const reader = new Reader(body)
    const items: string[] = []
    while (reader.at < reader.end) {
      const tag = reader.varint(reader.end)
      if (tag === (1 << 3 | BYTES)) items.push(reader.string(reader.end))
      else reader.skip(tag & 7, reader.end)
    }
    return items
  },
  openapi: { type: 'array', items: { type: 'string' } },
  nullable: true
}

export const Verbs = special<string[]>(
  'Verbs', 'Names of verbs.', { items: list(1, 'Names of verbs.', 'string') }, stringList
)

export const Duration = special<string>('Duration', 'A length of time, as in 1h15m30.5s.', {
  duration: int64(1, 'Nanoseconds.')
}, {
  decode: (value, refuse) => {
    const nanoseconds = typeof value === 'string' ? parseDuration(value) : undefined
    return nanoseconds === undefined ? refuse('a duration such as 1h15m30.5s') : formatDuration(nanoseconds)
  },
  json: (value = '0s') => quote(value),
  toProtobuf: value => {
    const writer = scratch.take()
    writer.integer(parseDuration(value ?? '0s') ?? 0n)
    writer.varint(1 << 3)
    return writer.finish()
  },
  fromProtobuf: body => {
    const reader = new Reader(body)
    let nanoseconds = 0n
    while (reader.at < reader.end) {
      const tag = reader.varint(reader.end)
      if (tag === (1 << 3 | VARINT)) nanoseconds = BigInt(reader.int64(reader.end))
      else reader.skip(tag & 7, reader.end)
    }
    return formatDuration(nanoseconds)
  },
  openapi: { type: 'string' }
})

/** The body of a patch, for OpenAPI. */
export const Patch = special<unknown>('Patch', 'A patch of any of the patch types.', {}, jsonValue({ type: 'object' }))
