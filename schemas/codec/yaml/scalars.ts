/**
 * YAML scalars as upstream's parser resolves them: YAML 1.1 without sexagesimal numbers. An unquoted scalar may be a
 * boolean, null or a number, whatever the type of its field. Dates stay strings.
 */
import { DecodeError, DocumentError } from '../../language/decode-error.js'

export type Scalar = string | number | bigint | boolean | null

const WORDS = new Map<string, boolean | null>([
  ...spelt(true, 'y', 'yes', 'true', 'on'), ...spelt(false, 'n', 'no', 'false', 'off'), ...spelt(null, 'null'),
  ['', null], ['~', null]
])

/** Each word in lower case, capitalized and in upper case. */
function spelt (value: boolean | null, ...words: string[]): Array<[string, boolean | null]> {
  return words.flatMap((word): Array<[string, boolean | null]> =>
    [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`].map(form => [form, value]))
}

/** Skips the table for longer text, and number patterns for text that starts with a letter. */
const MAX_WORD = 5
const NUMERIC = /^[-+.\d]/
const DECIMAL = /^[-+]?[1-9]\d*$/
const OTHER_BASE = /^([-+]?)(?:(0[bB][01]+|0[oO][0-7]+|0[xX][\da-fA-F]+)|0([0-7]*))$/
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const NO_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** Decimal digits of the largest finite number. */
const MAX_DIGITS = 308
const [MIN_INTEGER, MAX_INTEGER] = [-(2n ** 63n), 2n ** 64n - 1n]

/** Resolves an unquoted, untagged scalar. @throws DecodeError for a value that JSON cannot represent */
export function plainScalar (text: string): Scalar {
  if (text.length <= MAX_WORD) {
    const word = WORDS.get(text)
    if (word !== undefined) return word
  }
  return NUMERIC.test(text) ? number(text) : text
}

/** Text that is not a number is returned as it is. */
function number (text: string): number | bigint | string {
  if (NO_NUMBER.test(text)) throw new DecodeError('infinity and not-a-number are no JSON values')
  if (text.startsWith('.')) return FLOAT.test(text) ? finite(text, text) : text
  const digits = text.replaceAll('_', '')
  if (DECIMAL.test(digits)) {
    if (digits.length > MAX_DIGITS) throw new DocumentError('holds an integer of more than 300 digits')
    return integer(BigInt(digits))
  }
  const [, sign, prefixed, octal] = OTHER_BASE.exec(digits) ?? []
  const based = prefixed ?? (octal === undefined ? undefined : octal === '' ? '0' : `0o${octal}`)
  if (based !== undefined) {
    const value = sign === '-' ? -BigInt(based) : BigInt(based)
    if (value >= MIN_INTEGER && value <= MAX_INTEGER) return integer(value)
  }
  return FLOAT.test(digits) ? finite(digits, text) : text
}

/** A number that overflows stays text. */
function finite (digits: string, text: string): number | string {
  const value = Number(digits)
  return Number.isFinite(value) ? value : text
}

function integer (value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

const TAG = 'tag:yaml.org,2002:'
/** Tags that require a type of value, even when quoted. */
const TAGGED: Readonly<Record<string, (value: Scalar) => Scalar | undefined>> = {
  [`${TAG}null`]: value => value === null ? value : undefined,
  [`${TAG}bool`]: value => typeof value === 'boolean' ? value : undefined,
  [`${TAG}int`]: value => typeof value === 'bigint' || Number.isInteger(value) ? value : undefined,
  [`${TAG}float`]: value => typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
}

/** Resolves a tagged scalar; unknown tags are ignored. @throws DecodeError if the value does not fit the tag */
export function taggedScalar (tag: string, text: string): Scalar {
  if (tag === `${TAG}binary`) return Buffer.from(text, 'base64').toString()
  const of = Object.hasOwn(TAGGED, tag) ? TAGGED[tag] : undefined
  if (of === undefined) return text
  const value = of(plainScalar(text))
  if (value === undefined) throw new DecodeError(`a YAML value that is no ${tag.slice(TAG.length)}`)
  return value
}
