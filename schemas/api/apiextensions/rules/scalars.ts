/** Types, formats and bounds of scalar values. */
import { sameAmount, typeOf, type Amount } from '../plain-values.js'
import { isKnownFormat } from './formats.js'
import type { JSONSchemaProps as Schema } from '../schemas.js'

/**
 * As upstream, a format replaces the type. A schema with neither accepts every value.
 * @param either whether int-or-string is a type; otherwise logic beside it restricts values
 * @returns the expected and the actual type; undefined for a match
 */
export function typeMismatch (
  { type = '', format: said = '', nullable, 'x-orch-int-or-string': intOrString }: Schema, value: unknown,
  either: boolean
): { wanted: string, own: string } | undefined {
  const own = typeOf(value)
  const format = said !== '' && isKnownFormat(said, type) ? said : ''
  if (either && intOrString === true) {
    return own === 'integer' || own === 'string' || (value === null && nullable === true)
      ? undefined
      : { wanted: 'integer,string', own }
  }
  const isIt = type === own || (own === 'integer' && type === 'number')
  if (isIt || (type === '' && (format === '' || value === null)) || (value === null && nullable === true)) {
    return undefined
  }
  if (value === null || format === '') return { wanted: type, own }
  if (typeof value !== 'string' && !Array.isArray(value)) {
    return { wanted: format, own: own === 'integer' ? 'int64' : own === 'number' ? 'float64' : '' }
  }
  return type === 'number' || type === 'integer' ? { wanted: type, own } : undefined
}

/** As upstream, a quotient is whole if it is by this relative error. */
const EPSILON = 1e-9

/** Whole numbers are compared exactly, fractions as their binary forms allow: 0.3 is a multiple of 0.1. */
function isMultiple (value: Amount, of: number): boolean {
  const areWhole = Number.isInteger(of) && (typeof value === 'bigint' || Number.isInteger(value))
  if (areWhole) return BigInt(value) % BigInt(of) === 0n
  const quotient = Number(value) / of
  const whole = Math.round(quotient)
  return quotient === whole || Math.abs(quotient - whole) < EPSILON * (Math.abs(quotient) + Math.abs(whole))
}

const MAX_FLOAT = 3.4028234663852886e38
const BITS: Readonly<Record<string, number>> = { int32: 32, uint32: 32 }

/** Why a number is beyond what its type and format hold. */
export function rangeProblem ({ type = '', format = '' }: Schema, value: Amount): string | undefined {
  const isWithin = type === 'integer'
    ? (typeof value === 'number' && !Number.isInteger(value)) || fitsIn(BigInt(value), format)
    : !['float', 'float32'].includes(format) || Math.abs(Number(value)) <= MAX_FLOAT
  if (isWithin) return undefined
  return `Checked value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`}`
}
const fitsIn = (value: bigint, format: string): boolean => format.startsWith('uint')
  ? BigInt.asUintN(BITS[format] ?? 64, value) === value
  : BigInt.asIntN(BITS[format] ?? 64, value) === value

/** Violated bounds of a number, worded as ends of messages. */
export function numberWords (
  { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum }: Schema, value: Amount
): string[] {
  const or = (exclusive: boolean | undefined): string => exclusive === true ? '' : 'or equal to '
  const is = (bound: number, exclusive: boolean | undefined): boolean => exclusive === true && sameAmount(value, bound)
  const words: string[] = []
  if (multipleOf !== undefined && multipleOf > 0 && !isMultiple(value, multipleOf)) {
    words.push(`should be a multiple of ${multipleOf}`)
  }
  if (maximum !== undefined && (value > maximum || is(maximum, exclusiveMaximum))) {
    words.push(`should be less than ${or(exclusiveMaximum)}${maximum}`)
  }
  if (minimum !== undefined && (value < minimum || is(minimum, exclusiveMinimum))) {
    words.push(`should be greater than ${or(exclusiveMinimum)}${minimum}`)
  }
  return words
}
