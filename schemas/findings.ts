/** Findings of validation that are made again and again, in few words. */
import type { Report } from './language/types.js'
import type { Int64 } from './language/types.js'
import type { NameRule } from './names.js'

export const invalid = (report: Report, field: string, value: unknown, detail: string): void => report({ type: 'FieldValueInvalid', field, value, detail })
export const required = (report: Report, field: string, detail = ''): void => report({ type: 'FieldValueRequired', field, detail })
export const forbidden = (report: Report, field: string, detail: string): void => report({ type: 'FieldValueForbidden', field, detail })
export const duplicate = (report: Report, field: string, value: unknown): void => report({ type: 'FieldValueDuplicate', field, value, detail: '' })
export const notFound = (report: Report, field: string, value: unknown): void => report({ type: 'FieldValueNotFound', field, value, detail: '' })

export function notSupported (report: Report, field: string, value: unknown, known: readonly string[]): void {
  report({ type: 'FieldValueNotSupported', field, value, detail: `supported values: ${known.map(each => JSON.stringify(each)).join(', ')}` })
}

/** One finding for each thing that is wrong with the name. */
export function checkName (report: Report, field: string, name: string, rule: NameRule): void {
  for (const detail of rule(name)) invalid(report, field, name, detail)
}

export function notNegative (report: Report, field: string, value: Int64 | undefined): void {
  if (value !== undefined && value < 0) invalid(report, field, value, 'must be greater than or equal to 0')
}

export function between (report: Report, field: string, value: Int64, least: number, most: number): void {
  if (value < least || value > most) invalid(report, field, value, `must be between ${least} and ${most}, inclusive`)
}
