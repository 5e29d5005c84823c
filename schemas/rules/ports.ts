import type { Report } from '../language/types.js'
import { portName } from '../names.js'
import { invalid, checkName } from './findings.js'

export function validatePortNumber (report: Report, field: string, port: number): void {
  if (port < 1 || port > 65535) invalid(report, field, port, 'must be between 1 and 65535, inclusive')
}

export function validatePort (report: Report, field: string, port: number | string): void {
  if (typeof port === 'number') validatePortNumber(report, field, port)
  else checkName(report, field, port, portName)
}
