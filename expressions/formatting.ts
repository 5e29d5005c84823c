/** `format` and `quote` of strings. */
import type { Steps } from '../schemas/steps.js'
import type { Meter } from './meter.js'
import { inParts } from './strings.js'
import { Text } from './text.js'
import {
  Fault, Instant, isDict, Items, kindOf, Span, TypeValue, Uint, type Dict, type Key, type Value
} from './values.js'

/** A value in a way that a clause cannot show. */
class Unformatted extends Error {}

const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z]))|%/g
const MAX_PRECISION = 1000
const PRECISION = 6

const escaped = (text: string): string => JSON.stringify(text)

/** The text of a value that `string` converts. */
type Plain = (value: Value) => Value | undefined

export function * format (template: string, args: Items, plain: Plain, meter: Meter): Steps<Value> {
  try {
    return yield * formatted(template, args, plain, meter)
  } catch (error) {
    if (error instanceof Unformatted) return new Fault(`could not parse formatting clause: ${error.message}`)
    throw error
  }
}

/** @throws Unformatted */
function * formatted (template: string, args: Items, plain: Plain, meter: Meter): Steps<string> {
  const text = new Text()
  let [next, end] = [0, 0]
  for (const { 0: clause, 1: precision, 2: verb, index } of template.matchAll(CLAUSE)) {
    meter.work(1)
    if (meter.isDue) yield
    text.add(template.slice(end, index))
    end = index + clause.length
    if (clause === '%%') text.add('%')
    else if (verb === undefined) throw new Unformatted('unexpected end of string')
    else {
      if (next >= args.size) throw new Unformatted(`index ${next} out of range`)
      const digits = precision === undefined ? PRECISION : Number(precision)
      if (digits > MAX_PRECISION) throw new Unformatted(`precision exceeds ${MAX_PRECISION}`)
      const value = args.at(next++) ?? null
      text.add(verb === 's' && isContainer(value)
        ? yield * parts(value, plain, meter)
        : shown(value, verb, digits, plain))
    }
  }
  text.add(template.slice(end))
  return text.toString()
}

const integer = (value: Value): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined

function shown (value: Value, verb: string, digits: number, plain: Plain): string {
  const refused = (allowed: string): never => {
    throw new Unformatted(`error during formatting: ${allowed} got ${kindOf(value)}`)
  }
  const whole = integer(value)
  switch (verb) {
    case 's': return text(value, plain) ??
      refused('string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, ' +
        'durations, and timestamps, was given')
    case 'd': return whole?.toString() ?? refused('decimal clause can only be used on integers, was given')
    case 'b': return typeof value === 'boolean'
      ? String(Number(value))
      : whole?.toString(2) ?? refused('only integers and bools can be formatted as binary, was given')
    case 'o': return whole?.toString(8) ?? refused('octal clause can only be used on integers, was given')
    case 'x': case 'X': {
      const hex = typeof value === 'string'
        ? Buffer.from(value).toString('hex')
        : value instanceof Uint8Array
          ? Buffer.from(value).toString('hex')
          : whole?.toString(16) ??
            refused('only integers, byte buffers, and strings can be formatted as hex, was given')
      return verb === 'X' ? hex.toUpperCase() : hex
    }
    case 'f': return typeof value === 'number'
      ? fixed(value, digits)
      : refused('fixed-point clause can only be used on doubles, was given')
    case 'e': return typeof value === 'number'
      ? scientific(value, digits)
      : refused('scientific clause can only be used on doubles, was given')
    default: throw new Unformatted(`unrecognized formatting clause "${verb}"`)
  }
}

const special = (value: number): string => Number.isNaN(value) ? 'NaN' : value > 0 ? '\u221e' : '-\u221e'

/** A tie is rounded to the even digit. */
function rounded (value: number, digits: number): string {
  const scaled = Math.abs(value) * 10 ** digits
  const even = scaled % 1 === 0.5 ? 2 * Math.round(scaled / 2) / 10 ** digits * Math.sign(value) : value
  return even.toFixed(digits)
}

/** As English writes numbers. */
function fixed (value: number, digits: number): string {
  if (!Number.isFinite(value)) return special(value)
  const [whole = '', fraction] = rounded(value, Math.min(digits, 100)).split('.')
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const SUPERSCRIPT = '\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'
function scientific (value: number, digits: number): string {
  if (!Number.isFinite(value)) return special(value)
  const [mantissa, sign, exponent = ''] = value.toExponential(Math.min(digits, 100)).split(/e([+-])/)
  const power = [...`${sign === '-' ? '-' : ''}${exponent.padStart(2, '0')}`]
    .map(digit => SUPERSCRIPT['-0123456789'.indexOf(digit)]).join('')
  return `${mantissa}\u202f\u00d7\u202f10${power}`
}

const isContainer = (value: Value): value is Items | Dict =>
  value instanceof Items || (typeof value === 'object' && isDict(value))

/** What `%s` writes of a value without parts. */
function text (value: Value, plain: Plain): string | undefined {
  if (value === null) return 'null'
  if (value instanceof TypeValue) return value.name
  const plainValue = plain(value)
  return typeof plainValue === 'string' ? plainValue : undefined
}

/** A list or map, as expressions write it. */
function * parts (value: Items | Dict, plain: Plain, meter: Meter): Steps<string> {
  const [open, close] = value instanceof Items ? '[]' : '{}'
  const keys = value instanceof Items ? undefined : yield * ordered(value.keys(), meter)
  const all = new Text()
  for (let index = 0; index < value.size; index++) {
    meter.work(1)
    if (meter.isDue) yield
    const key = keys?.[index]
    const part = (value instanceof Items ? value.at(index) : key === undefined ? null : value.get(key)) ?? null
    const partText = isContainer(part) ? yield * parts(part, plain, meter) : literal(part, plain)
    all.add(`${index === 0 ? '' : ', '}${key === undefined ? '' : `${literal(key, plain)}:`}${partText}`)
  }
  return `${open}${all}${close}`
}

/** Sorts many keys in steps. */
function * ordered (keys: readonly Key[], meter: Meter): Steps<readonly Key[]> {
  const before = (left: Key, right: Key): number => `${left}"` < `${right}"` ? -1 : 1
  if (keys.length <= KEYS_PER_STEP) {
    meter.work(keys.length)
    if (meter.isDue) yield
    return [...keys].sort(before)
  }
  const [left, right] = [
    yield * ordered(keys.slice(0, keys.length / 2), meter), yield * ordered(keys.slice(keys.length / 2), meter)
  ]
  const merged: Key[] = []
  for (let [at, other] = [0, 0]; merged.length < keys.length;) {
    const [one, two] = [left[at], right[other]]
    if (one === undefined || (two !== undefined && before(one, two) > 0)) other = merged.push(two as Key) - at
    else at = merged.push(one) - other
    if (merged.length % KEYS_PER_STEP !== 0) continue
    meter.work(KEYS_PER_STEP)
    if (meter.isDue) yield
  }
  return merged
}
const KEYS_PER_STEP = 2000

/** A value within a list or map, as expressions write it. */
function literal (value: Value, plain: Plain): string {
  if (typeof value === 'string') return escaped(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(PRECISION) : escaped(special(value))
  if (value instanceof Uint8Array) return `b${escaped(Buffer.from(value).toString())}`
  if (value instanceof Instant) return `timestamp(${escaped(String(plain(value)))})`
  if (value instanceof Span) return `duration(${escaped(String(plain(value)))})`
  const formatted = text(value, plain)
  if (formatted === undefined) throw new Unformatted(`no formatting function for ${kindOf(value)}`)
  return formatted
}

const QUOTED: Readonly<Record<string, string>> = {
  '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v', '\\': '\\\\', '"': '\\"'
}
const quoted = (text: string): string =>
  // eslint-disable-next-line no-control-regex
  text.replace(/[\x07\b\f\n\r\t\v\\"]/g, character => QUOTED[character] ?? character)

export function * quote (text: string, meter: Meter): Steps<string> {
  return `"${yield * inParts(text.toWellFormed(), quoted, meter)}"`
}
