/** Numbers of pods, or percentages of them. */
import type { Report } from '../language/types.js'
import { invalid } from './findings.js'

const PERCENT = /^\d+%$/
const WHOLE = 100

export function validateNumberOrPercent (report: Report, field: string, value: number | string): void {
  if (typeof value === 'string') {
    if (!PERCENT.test(value)) invalid(report, field, value, "a valid percentage is a number followed by '%', such as '25%'")
    else if (Number.parseInt(value) > WHOLE) invalid(report, field, value, 'must not be greater than 100%')
  } else if (value < 0) invalid(report, field, value, 'must be greater than or equal to 0')
}
