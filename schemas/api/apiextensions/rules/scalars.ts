/** Types, formats and bounds of scalar values. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { parseTime } from '../../../meta/time.js'
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

const HEX = '[0-9a-f]'
const uuid = (version: string, variant: string): RegExp => new RegExp(`^${HEX}{8}-?${HEX}{4}-?${version}${HEX}{3}-?${variant}${HEX}{3}-?${HEX}{12}$`, 'i')

function isCidr (text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/')
  return more.length === 0 && isIP(address) !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (isIPv4(address) ? 32 : 128)
}

const dateTime = (text: string): boolean => parseTime(text.toUpperCase()) !== undefined
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTime(`${text}T00:00:00Z`) !== undefined],
  ['date-time', dateTime],
  ['datetime', dateTime],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['cidr', isCidr],
  ['mac', (text: string) => /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/i.test(text) || /^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/i.test(text)],
  ['uuid', (text: string) => uuid(HEX, HEX).test(text)],
  ['uuid3', (text: string) => uuid('3', HEX).test(text)],
  ['uuid4', (text: string) => uuid('4', '[89ab]').test(text)],
  ['uuid5', (text: string) => uuid('5', '[89ab]').test(text)],
  ['byte', (text: string) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0]
])

/** Every string has an unknown format. */
export const hasFormat = (format: string, text: string): boolean => FORMATS.get(format.toLowerCase())?.(text) ?? true
