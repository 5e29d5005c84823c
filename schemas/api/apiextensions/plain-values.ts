/** JSON values in the terms of JSON Schema. */
import { sameValue } from '../../language/values.js'

export type Amount = number | bigint
/** Characters of a string that cost as much as one value. */
export const STEP_OF_TEXT = 100

export const isNumber = (value: unknown): value is Amount => typeof value === 'number' || typeof value === 'bigint'

export function typeOf (value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isNumber(value)) return typeof value === 'bigint' || Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** The cost of quoting a value in a message, up to `most`. */
export function sizeOf (value: unknown, most: number): number {
  if (typeof value === 'string') return value.length / STEP_OF_TEXT
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const item of Object.values(value)) if (size < most) size += sizeOf(item, most - size)
  return size
}

/** Exact, also between a number and a large integer. */
export const sameAmount = (a: Amount, b: Amount): boolean => a >= b && a <= b

/** Unlike `sameValue`, distinguishes `{}`, `[]` and null. */
export const equal = (a: unknown, b: unknown): boolean =>
  typeOf(a) === typeOf(b) && (isNumber(a) && isNumber(b) ? sameAmount(a, b) : sameValue(a, b))
