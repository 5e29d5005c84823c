/** Ports, by number or name. */
import type { Report } from '../language/types.js'
import { invalid, named } from './findings.js'

const MOST_NAME = 15

/** IANA service name, such as http. */
export function portName (name: string): readonly string[] {
  const found: string[] = []
  if (name.length > MOST_NAME) found.push(`must be no more than ${MOST_NAME} characters`)
  if (!/^[-a-z0-9]+$/.test(name)) found.push('must contain only lower case letters, digits and hyphens')
  if (!/[a-z]/.test(name)) found.push('must contain at least one letter')
  if (name.includes('--')) found.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) found.push('must not begin or end with a hyphen')
  return found
}

export function validatePortNumber (report: Report, field: string, port: number): void {
  if (port < 1 || port > 65535) invalid(report, field, port, 'must be between 1 and 65535, inclusive')
}

export function validatePort (report: Report, field: string, port: number | string): void {
  if (typeof port === 'number') validatePortNumber(report, field, port)
  else named(report, field, port, portName)
}
