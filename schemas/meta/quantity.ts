/**
 * Quantity: an exact number with a unit (`100m`, `1.5Gi`, `12e6`), kept in canonical form: no fraction, the largest
 * possible unit, at most nine decimals.
 */
import { string, apiPackage, type Special } from '../language/declare.js'
import { quote } from '../codec/json/escape.js'
import { bytesTag, Reader, Scratch } from '../codec/protobuf/wire.js'

const { special } = apiPackage('', '', 'io.orch.apimachinery.pkg.api.resource', { name: 'resource' })

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*)([+-]?\d*)$/
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const DECIMAL_UNIT: Readonly<Record<number, string>> = Object
  .fromEntries(Object.entries(DECIMAL).map(([unit, exponent]) => [exponent, unit]))
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const
const SMALLEST = -9
/** Larger binary quantities are capped at this. */
const LARGEST = 2n ** 63n - 1n
/** Bound on the exponent, as for the digits of a JSON number. */
const MAX_EXPONENT = 1000
const MAX_CHARACTERS = 1024

/** value × 10^scale */
export interface Amount { readonly value: bigint, readonly scale: number }

type Format = 'decimal' | 'exponent' | 'binary'

interface Parsed extends Amount { readonly format: Format }

const power = (exponent: number): bigint => 10n ** BigInt(exponent)

function divideAway (value: bigint, by: bigint): bigint {
  const quotient = value / by
  if (value % by === 0n) return quotient
  return value > 0n ? quotient + 1n : quotient - 1n
}

/** Rounds away from zero to a multiple of 10^scale. */
function roundUp (amount: Amount, scale: number): Amount {
  return amount.scale >= scale ? amount : { value: divideAway(amount.value, power(scale - amount.scale)), scale }
}

function parse (text: string): Parsed | undefined {
  const match = text.length > MAX_CHARACTERS ? null : SYNTAX.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', unit = '', digits = ''] = match
  if (whole === '' && fraction === '') return undefined
  const number = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
  const exponential = (unit === 'e' || unit === 'E') && digits !== ''
  if (exponential ? !/\d/.test(digits) : digits !== '') return undefined
  if (exponential) {
    const exponent = Number(digits)
    return Math.abs(exponent) > MAX_EXPONENT
      ? undefined
      : bounded({ value: number, scale: exponent - fraction.length, format: 'exponent' })
  }
  const binary = BINARY.indexOf(unit as typeof BINARY[number])
  if (binary > 0) return bounded({ value: number * 1024n ** BigInt(binary), scale: -fraction.length, format: 'binary' })
  const scale = DECIMAL[unit]
  return scale === undefined ? undefined : bounded({ value: number, scale: scale - fraction.length, format: 'decimal' })
}

function bounded (parsed: Parsed): Parsed {
  const { format } = parsed
  const { value, scale } = roundUp(parsed, SMALLEST)
  if (format !== 'binary') return { value, scale, format }
  const whole = scale >= 0 ? value * power(scale) : value / power(-scale)
  if (whole > LARGEST) return { value: LARGEST, scale: 0, format }
  if (whole < -LARGEST) return { value: -LARGEST, scale: 0, format }
  return { value, scale, format }
}

function canonical ({ value, scale, format }: Parsed): string {
  if (value === 0n) return '0'
  if (format === 'binary') {
    const divisor = scale < 0 ? power(-scale) : 1n
    if (value % divisor === 0n) {
      let whole = scale < 0 ? value / divisor : value * power(scale)
      if (whole <= -1024n || whole >= 1024n) {
        let unit = 0
        for (; unit < BINARY.length - 1 && whole % 1024n === 0n; unit++) whole /= 1024n
        return `${whole}${BINARY[unit] ?? ''}`
      }
    }
  }
  while (value % 10n === 0n) {
    value /= 10n
    scale++
  }
  for (; scale % 3 !== 0; scale--) value *= 10n
  const unit = format === 'exponent' ? undefined : DECIMAL_UNIT[scale]
  return `${value}${unit ?? (scale === 0 ? '' : `e${scale}`)}`
}

/** Common quantities that are canonical as they are. */
const PLAIN = /^(?:0|[1-9]\d{0,2}(?:[mkMGT]|[KMGT]i)?)$/

/** @returns undefined if the text is not a quantity */
export function canonicalQuantity (text: string): string | undefined {
  if (PLAIN.test(text)) return text
  const parsed = parse(text)
  return parsed === undefined ? undefined : canonical(parsed)
}

/** The amount of a quantity; zero for anything else. */
export function amountOf (text: string | undefined): Amount {
  return (text === undefined ? undefined : parse(text)) ?? { value: 0n, scale: 0 }
}

const KI = 1024
/** Units in thousandths, so that all are integers. */
const PLAIN_UNITS: Readonly<Record<string, number>> = {
  m: 1, '': 1e3, k: 1e6, M: 1e9, G: 1e12, T: 1e15, Ki: 1e3 * KI, Mi: 1e3 * KI ** 2, Gi: 1e3 * KI ** 3, Ti: 1e3 * KI ** 4
}

/** Thousandths of a common quantity; exact, since no product exceeds 53 significant bits. */
function plainThousandths (text: string): number | undefined {
  if (!PLAIN.test(text)) return undefined
  const unit = text.search(/\D|$/)
  return Number(text.slice(0, unit)) * (PLAIN_UNITS[text.slice(unit)] ?? NaN)
}

const sign = (value: bigint): number => value < 0n ? -1 : value > 0n ? 1 : 0

/** Negative if the first is smaller. */
export function compareQuantities (one: string | undefined, other: string | undefined): number {
  if (one === other) return 0
  const [plain, otherPlain] = [plainThousandths(one ?? '0'), plainThousandths(other ?? '0')]
  if (plain !== undefined && otherPlain !== undefined) return Math.sign(plain - otherPlain)
  const [a, b] = [amountOf(one), amountOf(other)]
  // Compares signs first, which avoids multiplying large powers.
  const signs = sign(a.value) - sign(b.value)
  if (signs !== 0 || a.value === 0n) return Math.sign(signs)
  const scale = Math.min(a.scale, b.scale)
  const difference = a.value * power(a.scale - scale) - b.value * power(b.scale - scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/**
 * Sum, or with `times` -1 difference, in the format of the first operand, or of the second if the first is zero.
 * Malformed text is zero.
 */
export function sumQuantities (one: string, other: string, times: 1 | -1 = 1): string {
  const [a, b] = [parse(one) ?? NOTHING, parse(other) ?? NOTHING]
  const scale = Math.min(a.scale, b.scale)
  const value = a.value * power(a.scale - scale) + BigInt(times) * b.value * power(b.scale - scale)
  return canonical({ value, scale, format: a.value === 0n ? b.format : a.format })
}

const NOTHING: Parsed = { value: 0n, scale: 0, format: 'decimal' }

/** The same amount in decimal format. */
export function decimalQuantity (text: string): string {
  return canonical({ ...(parse(text) ?? NOTHING), format: 'decimal' })
}

/** Whether the quantity is an integer. */
export function isWhole (text: string): boolean {
  if (PLAIN.test(text)) return !text.endsWith('m')
  const { value, scale } = amountOf(text)
  return scale >= 0 || value % power(-scale) === 0n
}

/** The quantity as an integer, rounded away from zero. @param of as a power of ten: -3 counts thousandths */
export function wholeUnits (text: string, of = 0): bigint {
  const { value, scale } = roundUp(amountOf(text), of)
  return value * power(scale - of)
}

const FINER_THAN_MILLI = /(?:[nu]|e-\d+)$/

/** Rounds resource quantities up to thousandths, in place. */
export function roundToMilli (amounts: Record<string, string> | undefined): void {
  for (const name in amounts) {
    const text = amounts[name] ?? ''
    if (PLAIN.test(text) || !FINER_THAN_MILLI.test(text)) continue
    const parsed = parse(text)
    if (parsed !== undefined) amounts[name] = canonical({ ...roundUp(parsed, -3), format: parsed.format })
  }
}

const scratch = new Scratch(64)

const quantity: Special<string> = {
  decode: (value, refuse) => {
    const text = typeof value === 'string'
      ? value.trim()
      : typeof value === 'number' || typeof value === 'bigint'
        ? String(value)
        : undefined
    return (text === undefined ? undefined : canonicalQuantity(text)) ?? refuse('a quantity such as 100m, 1.5 or 2Gi')
  },
  json: value => quote(value ?? '0'),
  toProtobuf: value => {
    const writer = scratch.take()
    writer.string(value ?? '0')
    writer.varint(bytesTag(1))
    return writer.finish()
  },
  fromProtobuf: body => {
    const reader = new Reader(body)
    let text = '0'
    while (reader.at < reader.end) {
      const tag = reader.varint(reader.end)
      if (tag === bytesTag(1)) text = reader.string(reader.end)
      else reader.skip(tag & 7, reader.end)
    }
    return text === '' ? '0' : canonicalQuantity(text)
  },
  wraps: 'text',
  zero: '0',
  isSame: (value, other) => compareQuantities(value, other) === 0,
  openapi: { type: 'string' },
  schema: { type: 'string' }
}

export const Quantity = special(
  'Quantity', 'A number with a unit, as in 100m, 1.5 or 2Gi.',
  { string: string(1, 'The number in its canonical form.') }, quantity
)

/** The same as a named type, for clients that generate types from the declarations. */
export const QuantityValue = special(
  'QuantityValue', 'A quantity.', { string: string(1, 'The number in its canonical form.') }, quantity
)
