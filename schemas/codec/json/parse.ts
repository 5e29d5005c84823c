/**
 * Parses JSON bytes. Unlike JSON.parse it refuses invalid UTF-8 and deep nesting, which could overflow the stack of
 * later walks, and reports duplicate keys, of which the last counts. Integers beyond ±9007199254740991 are bigints, see
 * `exact.ts`.
 *
 * Limits: object keys that look like array indexes come first, in ascending order; 1.0 and 1e3 become integers.
 */
import { isUtf8 } from 'node:buffer'
import { DocumentError, TooManyError } from '../../language/decode-error.js'
import { hasLongDigits, parseLongInSteps } from './exact.js'
import { MAX_ENTRIES, MAX_MEMBERS, MAX_VALUES } from '../../limits.js'
import { finish, type Steps } from '../../steps.js'
import { findDuplicates } from './repeated-keys.js'

/** Nesting levels; the deepest declared type has far fewer. */
export const MAX_DEPTH = 1000
/** Bounds on the content of a body. */
export interface ValueBounds {
  /** List items and object members in all. */
  readonly values: number
  /** Members of one JSON object. */
  readonly members: number
  /** Map entries and items of keyed lists in total, when the type is known. */
  readonly entries: number
  /** Tokens of YAML, comments and white space included. Default by the number of values. */
  readonly tokens?: number
}
export const OF_BODIES: ValueBounds = { values: MAX_VALUES, members: MAX_MEMBERS, entries: MAX_ENTRIES }
/** For stored objects. */
export const UNBOUNDED: ValueBounds = { values: Infinity, members: Infinity, entries: Infinity }

export const tooManyValues = (most: number) => new TooManyError(`${most} values`)
export const tooManyEntries = (most: number) => new TooManyError(`${most} values by name`)

export interface Parsed {
  readonly value: unknown
  /** Paths of duplicate keys, such as `spec.foo`; at most 100. */
  readonly duplicates: string[]
  /** For YAML: the same as messages with line numbers. */
  readonly lines?: string[]
}

const [QUOTE, BACKSLASH, COLON, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x3a, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d
]

/** The number of members of each open object; far below zero for lists. Shared, as `countValues` is not reentrant. */
const open = new Int32Array(MAX_DEPTH + 2)
const UNCOUNTED = -(2 ** 31)

/**
 * Counts list items plus object members, and the members alone. Wrong for invalid JSON, which JSON.parse refuses
 * afterwards.
 * @throws DecodeError beyond the bounds
 */
export function countValues (bytes: Uint8Array, most: ValueBounds): { values: number, members: number } {
  let depth = 0
  let values = 0
  let members = 0
  let entries = UNCOUNTED
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
        break
      case COLON: members++; break
      case COMMA:
        if (++values > most.values) throw tooManyValues(most.values)
        if (++entries >= most.members) throw tooManyEntries(most.members)
        break
      case OPEN_LIST: case OPEN_OBJECT:
        // An empty collection is one value, counted at the comma beside it.
        if (bytes[at + 1] !== CLOSE_LIST && bytes[at + 1] !== CLOSE_OBJECT && ++values > most.values) {
          throw tooManyValues(most.values)
        }
        open[depth] = entries
        if (++depth > MAX_DEPTH) throw new DocumentError(`nests more than ${MAX_DEPTH} levels deep`)
        entries = bytes[at] === OPEN_LIST ? UNCOUNTED : 0
        break
      case CLOSE_LIST: case CLOSE_OBJECT: entries = open[--depth] ?? UNCOUNTED; break
    }
  }
  return { values, members }
}

/**
 * Spares `findDuplicates`. Benchmark: `npm run bench -- structured`, 'create, warm, ClusterRoleBindings, embedded,
 * beside a bare server that reads the body': 1.17 to 1.28 times as much without it.
 */
function countKeys (value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countKeys(item)
    return count
  }
  for (const key of Object.keys(value)) {
    count++
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object') count += countKeys(member)
  }
  return count
}

export function decodeText (bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new DocumentError('is not valid UTF-8')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (text.charCodeAt(0) === 0xfeff) {
    throw new DocumentError('begins with a byte order mark, which JSON and YAML must not have')
  }
  return text
}

/** @throws DecodeError unless the bytes are one JSON value in UTF-8 within `MAX_DEPTH` and the bounds */
export const parseJson = (bytes: Uint8Array, most = OF_BODIES): Parsed => finish(parseInSteps(bytes, most))

/** The same, of a large body. */
export function * parseInSteps (bytes: Uint8Array, most = OF_BODIES): Steps<Parsed> {
  const text = decodeText(bytes)
  yield
  const { members } = countValues(bytes, most)
  yield
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DocumentError(`is not valid JSON: ${complaint(text, error)}`, { cause: error })
  }
  yield
  if (hasLongDigits(bytes)) value = yield * parseLongInSteps(text)
  const isOnce = members === countKeys(value)
  yield
  return { value, duplicates: isOnce ? [] : findDuplicates(text) }
}

/**
 * V8 tells what is wrong in its text alone (checked with Node 20.20), which quotes the body, maybe a secret: only the
 * position is passed on. `test/schemas/codec/json/parse.test.ts` notices other words.
 */
function complaint (text: string, error: unknown): string {
  if (text.trim() === '') return 'it is empty'
  const message = error instanceof Error ? error.message : ''
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return `something unexpected at character ${position}`
  return message.includes('end of JSON') ? 'it ends in the middle of a value' : 'it holds an unexpected character'
}
