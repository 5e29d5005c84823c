/** `format` and `quote` of strings. */
import { Fault, Instant, isDict, Items, kindOf, Span, TypeValue, Uint, type Value } from './values.js'

/** A value in a way that a clause cannot show. */
class Unformatted extends Error {}

const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z]))|%/g
const MAX_PRECISION = 1000
const PRECISION = 6

const escaped = (text: string): string => JSON.stringify(text)

/** @param plain the text of a value that `string()` converts */
export function format (template: string, args: readonly Value[], plain: (value: Value) => Value | undefined): Value {
  let next = 0
  try {
    return template.replace(CLAUSE, (clause, precision?: string, verb?: string) => {
      if (clause === '%%') return '%'
      if (verb === undefined) throw new Unformatted('unexpected end of string')
      if (next >= args.length) throw new Unformatted(`index ${next} out of range`)
      const digits = precision === undefined ? PRECISION : Number(precision)
      if (digits > MAX_PRECISION) throw new Unformatted(`precision exceeds ${MAX_PRECISION}`)
      return shown(args[next++] ?? null, verb, digits, plain)
    })
  } catch (error) {
    if (error instanceof Unformatted) return new Fault(`could not parse formatting clause: ${error.message}`)
    throw error
  }
}

const integer = (value: Value): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined

function shown (value: Value, verb: string, digits: number, plain: (value: Value) => Value | undefined): string {
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

/** What `%s` writes. */
function text (value: Value, plain: (value: Value) => Value | undefined): string | undefined {
  if (value === null) return 'null'
  if (value instanceof Items || (typeof value === 'object' && isDict(value))) return literal(value, plain)
  if (value instanceof TypeValue) return value.name
  const made = plain(value)
  return typeof made === 'string' ? made : undefined
}

/** A value within a list or map, as expressions write it. */
function literal (value: Value, plain: (value: Value) => Value | undefined): string {
  if (typeof value === 'string') return escaped(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(PRECISION) : escaped(special(value))
  if (value instanceof Uint8Array) return `b${escaped(Buffer.from(value).toString())}`
  if (value instanceof Instant) return `timestamp(${escaped(String(plain(value)))})`
  if (value instanceof Span) return `duration(${escaped(String(plain(value)))})`
  if (value instanceof Items) return `[${value.items.map(item => literal(item, plain)).join(', ')}]`
  if (typeof value === 'object' && value !== null && isDict(value)) {
    return `{${value.keys().map(key => `${literal(key, plain)}:${literal(value.get(key) ?? null, plain)}`).sort()
      .join(', ')}}`
  }
  const made = text(value, plain)
  if (made === undefined) throw new Unformatted(`no formatting function for ${kindOf(value)}`)
  return made
}

const QUOTED: Readonly<Record<string, string>> = {
  '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v', '\\': '\\\\', '"': '\\"'
}
export const quote = (text: string): string =>
  // eslint-disable-next-line no-control-regex
  `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, character => QUOTED[character] ?? character)}"`
