/**
 * Scalars as the convention's parser takes them, which speaks YAML 1.1 but for numbers to the base of 60: what stands without quotes may
 * be a truth value, nothing or a number, whatever type its field has. Dates stay text.
 */
import { DecodeError } from '../../language/decode-error.js'

export type Scalar = string | number | bigint | boolean | null

const WORDS = new Map<string, boolean | null>([
  ...spelt(true, 'y', 'yes', 'true', 'on'), ...spelt(false, 'n', 'no', 'false', 'off'), ...spelt(null, 'null'), ['', null], ['~', null]
])

/** In lower case, in upper case, and with a capital. */
function spelt (value: boolean | null, ...words: string[]): Array<[string, boolean | null]> {
  return words.flatMap((word): Array<[string, boolean | null]> => [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`].map(form => [form, value]))
}

/** No longer text is a word, and most text begins with a letter that no number does. */
const LONGEST_WORD = 5
const NUMERIC = /^[-+.\d]/
const DECIMAL = /^[-+]?[1-9]\d*$/
const OTHER_BASE = /^([-+]?)(?:(0[bB][01]+|0[oO][0-7]+|0[xX][\da-fA-F]+)|0([0-7]*))$/
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const NO_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** What a number holds at most. */
const MOST_DIGITS = 308
const [LEAST_INTEGER, MOST_INTEGER] = [-(2n ** 63n), 2n ** 64n - 1n]

/** What text without quotes and without a tag stands for. @throws DecodeError for what no JSON holds */
export function plainScalar (text: string): Scalar {
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text)
    if (word !== undefined) return word
  }
  return NUMERIC.test(text) ? number(text) : text
}

/** The text itself where it is no number. */
function number (text: string): number | bigint | string {
  if (NO_NUMBER.test(text)) throw new DecodeError('infinity and not-a-number are no JSON values')
  if (text.startsWith('.')) return FLOAT.test(text) ? finite(text, text) : text
  const digits = text.replaceAll('_', '')
  if (DECIMAL.test(digits)) {
    if (digits.length > MOST_DIGITS) throw new DecodeError('the body holds an integer of more than 300 digits')
    return integer(BigInt(digits))
  }
  const [, sign, prefixed, octal] = OTHER_BASE.exec(digits) ?? []
  const based = prefixed ?? (octal === undefined ? undefined : octal === '' ? '0' : `0o${octal}`)
  if (based !== undefined) {
    const value = sign === '-' ? -BigInt(based) : BigInt(based)
    if (value >= LEAST_INTEGER && value <= MOST_INTEGER) return integer(value)
  }
  return FLOAT.test(digits) ? finite(digits, text) : text
}

/** What is beyond what a number holds is text. */
function finite (digits: string, text: string): number | string {
  const value = Number(digits)
  return Number.isFinite(value) ? value : text
}

function integer (value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

const TAG = 'tag:yaml.org,2002:'
/** Names of types, and what their values are; in quotes, too. */
const TAGGED: Readonly<Record<string, (value: Scalar) => Scalar | undefined>> = {
  [`${TAG}null`]: value => value === null ? value : undefined,
  [`${TAG}bool`]: value => typeof value === 'boolean' ? value : undefined,
  [`${TAG}int`]: value => typeof value === 'bigint' || Number.isInteger(value) ? value : undefined,
  [`${TAG}float`]: value => typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
}

/** What text stands for that is given a type, or one nobody knows. @throws DecodeError for what is no value of it */
export function taggedScalar (tag: string, text: string): Scalar {
  if (tag === `${TAG}binary`) return Buffer.from(text, 'base64').toString()
  const of = Object.hasOwn(TAGGED, tag) ? TAGGED[tag] : undefined
  if (of === undefined) return text
  const value = of(plainScalar(text))
  if (value === undefined) throw new DecodeError(`a YAML value that is no ${tag.slice(TAG.length)}`)
  return value
}
