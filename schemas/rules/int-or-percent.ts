/** Numbers of pods, absolute or as a percentage. */
import { invalid, notNegative } from './findings.js'
import type { Report } from '../language/types.js'
import type { IntOrStringValue } from '../meta/int-or-string.js'

const PERCENT = /^[0-9]+%$/

function percentOf (value: IntOrStringValue): number | undefined {
  return typeof value === 'string' && PERCENT.test(value) ? Number(value.slice(0, -1)) : undefined
}

/** Whether the value is zero; as upstream, malformed text is. */
export function isZero (value: IntOrStringValue = 0): boolean {
  const number = percentOf(value) ?? (typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value)
  return typeof number === 'string' || number === 0
}

export function checkIntOrPercent (report: Report, field: string, value: IntOrStringValue | undefined): void {
  if (typeof value === 'number') notNegative(report, field, value)
  else if (value !== undefined && percentOf(value) === undefined) {
    invalid(
      report, field, value,
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used " +
        "for validation is '[0-9]+%')"
    )
  }
}

export function checkAtMostAll (report: Report, field: string, value: IntOrStringValue | undefined): void {
  if (value !== undefined && (percentOf(value) ?? 0) > 100) {
    invalid(report, field, value, 'must not be greater than 100%')
  }
}
