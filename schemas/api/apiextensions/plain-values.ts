/** Values as JSON has them, and what they are called in schemas. */
import { sameValue } from '../../language/values.js'

export type Amount = number | bigint
/** Characters of a text that take as long as a value. */
export const STEP_OF_TEXT = 100

export const isNumber = (value: unknown): value is Amount => typeof value === 'number' || typeof value === 'bigint'
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** In the words of JSON Schema. */
export function typeOf (value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isNumber(value)) return typeof value === 'bigint' || Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** What it takes to show it, up to a bound. */
export function sizeOf (value: unknown, most: number): number {
  if (typeof value === 'string') return value.length / STEP_OF_TEXT
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const item of Object.values(value)) if (size < most) size += sizeOf(item, most - size)
  return size
}

/** `{}`, `[]` and null are three values here. */
export const equal = (a: unknown, b: unknown): boolean => typeOf(a) === typeOf(b) && (isNumber(a) ? Number(a) === Number(b) : sameValue(a, b))
