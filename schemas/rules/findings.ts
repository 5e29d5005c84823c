/** Field errors with upstream's messages. */
import { isOn } from '../gates.js'
import type { Int64, Report } from '../language/types.js'
import type { NameRule } from '../names.js'
import type { FieldError } from '../status.js'

export const invalid = (report: Report, field: string, value: unknown, detail: string): void => {
  report({ type: 'FieldValueInvalid', field, value, detail })
}
/** For rules that came when objects without them were stored: those objects may still be updated. */
export const forgiving = (report: Report): Report =>
  Object.assign((error: FieldError) => { report({ ...error, isForgiven: true }) }, report)

export const required = (report: Report, field: string, detail = ''): void => {
  report({ type: 'FieldValueRequired', field, detail })
}
export const forbidden = (report: Report, field: string, detail: string): void => {
  report({ type: 'FieldValueForbidden', field, detail })
}
export const duplicate = (report: Report, field: string, value: unknown): void => {
  report({ type: 'FieldValueDuplicate', field, value, detail: '' })
}
export const notFound = (report: Report, field: string, value: unknown): void => {
  report({ type: 'FieldValueNotFound', field, value, detail: '' })
}
export const tooMany = (report: Report, field: string, value: number, most: number): void => {
  report({ type: 'FieldValueTooMany', field, value, detail: `must have at most ${most} items` })
}
/** Clients of 1.32 and later read other words. */
export const tooLong = (report: Report, field: string, most: number): void => {
  const detail = isOn(report, 'TooLongIsInBytes')
    ? `may not be more than ${most} bytes`
    : `must have at most ${most} bytes`
  report({ type: 'FieldValueTooLong', field, detail })
}

export function notSupported (report: Report, field: string, value: unknown, supported: readonly string[]): void {
  report({
    type: 'FieldValueNotSupported', field, value,
    detail: `supported values: ${supported.map(text => JSON.stringify(text)).join(', ')}`
  })
}

/** One Invalid for each message of the name rule. */
export function checkName (report: Report, field: string, value: string, rule: NameRule): void {
  for (const detail of rule(value)) invalid(report, field, value, detail)
}

/** Required if empty, otherwise checked by the name rule. */
export function requiredName (
  report: Report, field: string, value: string | undefined, rule: NameRule, detail = ''
): void {
  if (value === undefined || value === '') required(report, field, detail)
  else checkName(report, field, value, rule)
}

export function notNegative (report: Report, field: string, value: Int64 | undefined): void {
  if (value !== undefined && value < 0) invalid(report, field, value, 'must be greater than or equal to 0')
}

export function checkRange (report: Report, field: string, value: Int64, least: number, most: number): void {
  if (value < least || value > most) invalid(report, field, value, `must be between ${least} and ${most}, inclusive`)
}
