/** Findings in the words of the convention, for rules that stand beside messages. */
import type { Report } from '../language/types.js'
import type { NameRule } from '../names.js'

export function invalid (report: Report, field: string, value: unknown, detail: string): void {
  report({ type: 'FieldValueInvalid', field, value, detail })
}

export function required (report: Report, field: string, detail = ''): void {
  report({ type: 'FieldValueRequired', field, detail })
}

export function forbidden (report: Report, field: string, detail: string): void {
  report({ type: 'FieldValueForbidden', field, detail })
}

export function duplicate (report: Report, field: string, value: unknown): void {
  report({ type: 'FieldValueDuplicate', field, value, detail: '' })
}

export function tooLong (report: Report, field: string, most: number): void {
  report({ type: 'FieldValueTooLong', field, detail: `must have at most ${most} bytes` })
}

export function notSupported (report: Report, field: string, value: unknown, supported: readonly string[]): void {
  report({ type: 'FieldValueNotSupported', field, value, detail: `supported values: ${supported.map(one => JSON.stringify(one)).join(', ')}` })
}

/** Invalid, once for each sentence of the rule. */
export function named (report: Report, field: string, value: string, rule: NameRule): void {
  for (const detail of rule(value)) invalid(report, field, value, detail)
}

/** Required when empty, else as the rule has it. */
export function requiredName (report: Report, field: string, value: string | undefined, rule: NameRule, detail = ''): void {
  if (value === undefined || value === '') required(report, field, detail)
  else named(report, field, value, rule)
}

export function nonnegative (report: Report, field: string, value: number | bigint | undefined): void {
  if (value !== undefined && value < 0) invalid(report, field, value, 'must be greater than or equal to 0')
}
