/** Types, formats and bounds of scalar values. */
import { typeOf, type Amount } from '../plain-values.js'
import type { JSONSchemaProps as Schema } from '../schemas.js'

/**
 * As upstream, a format replaces the type. A schema with neither accepts every value.
 * @param either whether int-or-string is a type; otherwise logic beside it restricts values
 * @returns the expected and the actual type; undefined for a match
 */
export function typeMismatch ({ type = '', format = '', nullable, 'x-orch-int-or-string': intOrString }: Schema, value: unknown, either: boolean): { wanted: string, own: string } | undefined {
  const own = typeOf(value)
  if (either && intOrString === true) return own === 'integer' || own === 'string' || (value === null && nullable === true) ? undefined : { wanted: 'integer,string', own }
  const isIt = type === own || (own === 'integer' && type === 'number')
  if (isIt || (type === '' && (format === '' || value === null)) || (value === null && nullable === true)) return undefined
  if (value === null || format === '') return { wanted: type, own }
  if (typeof value !== 'string' && !Array.isArray(value)) return { wanted: format, own: own === 'integer' ? 'int64' : own === 'number' ? 'float64' : '' }
  return type === 'number' || type === 'integer' ? { wanted: type, own } : undefined
}

/** Violated bounds of a number, worded as ends of messages. */
export function numberWords ({ multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum }: Schema, value: Amount): string[] {
  const or = (exclusive: boolean | undefined): string => exclusive === true ? '' : 'or equal to '
  const is = (bound: number, exclusive: boolean | undefined): boolean => exclusive === true && Number(value) === bound
  const words: string[] = []
  if (multipleOf !== undefined && multipleOf > 0 && !Number.isInteger(Number(value) / multipleOf)) words.push(`should be a multiple of ${multipleOf}`)
  if (maximum !== undefined && (value > maximum || is(maximum, exclusiveMaximum))) words.push(`should be less than ${or(exclusiveMaximum)}${maximum}`)
  if (minimum !== undefined && (value < minimum || is(minimum, exclusiveMinimum))) words.push(`should be greater than ${or(exclusiveMinimum)}${minimum}`)
  return words
}
