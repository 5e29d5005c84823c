/** The types of meta v1 that are no plain objects of their fields: times, durations, raw JSON, verbs. */
import { bytes, int32, int64, list } from '../declare.js'
import type { Special } from '../declare.js'
import { message, special } from './package.js'
import { nameOfType } from '../decode-error.js'
import { formatTime, isZeroTime, parseTime } from '../time.js'
import { quote, rawJson } from '../json/escape.js'
import { MAX_VALUES, parseJson } from '../json/parse.js'
import { Reader, Writer, VARINT, BYTES, bytesTag } from '../protobuf/wire.js'

const NOTHING = new Uint8Array(0)

const pointInTime = (digits: 0 | 6): Special<string> => ({
  decode: (value, refuse) => {
    const expected = digits === 0 ? 'a time such as 2006-01-02T15:04:05Z' : 'a time such as 2006-01-02T15:04:05.000000Z'
    if (typeof value !== 'string') return refuse(expected)
    const instant = parseTime(value)
    if (instant === undefined) return refuse(expected)
    const text = formatTime(instant, digits) ?? refuse(`${expected}, of the years 0 to 9999`)
    return isZeroTime(text) ? undefined : text
  },
  json: value => value === undefined ? 'null' : quote(value),
  toProtobuf: value => {
    const instant = value === undefined ? undefined : parseTime(value)
    if (instant === undefined) return NOTHING
    const writer = new Writer(24)
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

/** Fields 1 and 2 of a message of two integers. */
function integers (body: Uint8Array): { 1?: number, 2?: number } {
  const reader = new Reader(body)
  const found: { 1?: number, 2?: number } = {}
  while (reader.at < reader.end) {
    const tag = reader.varint(reader.end)
    const number = tag >>> 3
    if ((tag & 7) === VARINT && (number === 1 || number === 2)) found[number] = reader.integer(reader.end, 64)
    else reader.skip(tag & 7, reader.end)
  }
  return found
}

/** Field 1 of a message that wraps bytes. */
function wrapped (body: Uint8Array): Uint8Array | undefined {
  const reader = new Reader(body)
  let found: Uint8Array | undefined
  while (reader.at < reader.end) {
    const tag = reader.varint(reader.end)
    if (tag === bytesTag(1)) found = reader.bytes(reader.end)
    else reader.skip(tag & 7, reader.end)
  }
  return found
}

/** JSON carried as it is: any value in JSON, its text in field 1 of a protobuf message. */
export const jsonValue = (openapi: Special['openapi']): Special<unknown> => ({
  decode: value => value,
  json: rawJson,
  toProtobuf: value => {
    if (value === undefined) return NOTHING
    const writer = new Writer()
    writer.string(rawJson(value))
    writer.varint(bytesTag(1))
    return writer.finish()
  },
  fromProtobuf: body => {
    const raw = wrapped(body)
    return raw === undefined || raw.length === 0 ? undefined : parseJson(raw, 4 * MAX_VALUES).value // more than there are in any body it came with
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

export const FieldsV1 = special<unknown>('FieldsV1', 'A set of fields as a tree; its keys begin with f:, k:, v: or i:.', {
  Raw: bytes(1, 'The tree as JSON text.')
}, {
  ...jsonValue({ type: 'object' }),
  decode: (value, refuse) => typeof value === 'object' && value !== null && !Array.isArray(value) ? value : refuse('an object')
})

/** Any JSON value at all; has no protobuf form. */
export const Anything = special<unknown>('Anything', 'Any value.', {}, jsonValue({}))

export const Verbs = special<string[]>('Verbs', 'Names of verbs.', { items: list(1, 'Names of verbs.', 'string') }, {
  decode: (value, refuse) => {
    if (!Array.isArray(value)) return refuse('a list')
    return value.map(verb => typeof verb === 'string' ? verb : refuse(`a list of strings, not of ${nameOfType(verb)}`))
  },
  json: value => value === undefined ? 'null' : `[${value.map(quote).join(',')}]`,
  toProtobuf: value => {
    const writer = new Writer()
    for (const verb of [...value ?? []].reverse()) {
      writer.string(verb)
      writer.varint(bytesTag(1))
    }
    return writer.finish()
  },
  fromProtobuf: body => {
    const reader = new Reader(body)
    const verbs: string[] = []
    while (reader.at < reader.end) {
      const tag = reader.varint(reader.end)
      if (tag === (1 << 3 | BYTES)) verbs.push(reader.string(reader.end))
      else reader.skip(tag & 7, reader.end)
    }
    return verbs
  },
  openapi: { type: 'array', items: { type: 'string' } },
  nullable: true
})
