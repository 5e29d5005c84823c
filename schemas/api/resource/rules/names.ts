/** Names of drivers, pools, devices, attributes and requests. */
import type { Report } from '../../../language/types.js'
import { dnsLabel, dnsSubdomain, formed, labelValue, qualifiedName } from '../../../names.js'
import { checkName, duplicate, invalid, required, requiredName, tooLong, tooMany } from '../../../rules/findings.js'
import { checkDriverName } from '../../core/rules/network-volumes.js'

const MAX_POOL = 253
const MAX_ID = 32
const IDENTIFIER_FORM = '[A-Za-z_][A-Za-z0-9_]*'
const IDENTIFIER = new RegExp(`^${IDENTIFIER_FORM}$`)
const IDENTIFIER_WORDS = formed(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters " +
    "or '_'", IDENTIFIER_FORM, 'my_name', 'MY_NAME', 'MyName'
)
const UID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Refuses lists that are too long before anything is done for each item. False if it is. */
export function isShort (items: readonly unknown[], most: number, at: string, report: Report): boolean {
  if (items.length > most) tooMany(report, at, items.length, most)
  return items.length <= most
}

/** @param keyOf what may occur only once */
export function checkUnique<T> (items: readonly T[], keyOf: (item: T) => string, at: string, report: Report): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const key = keyOf(item)
    if (seen.has(key)) duplicate(report, `${at}[${index}]`, key)
    seen.add(key)
  }
}

export function checkDriver (name: string, at: string, report: Report): void {
  if (name === '') required(report, at)
  else checkDriverName(name, at, report)
}

export function checkPool (name: string, at: string, report: Report): void {
  if (name === '') return required(report, at)
  if (name.length > MAX_POOL) return tooLong(report, at, MAX_POOL)
  for (const part of name.split('/')) checkName(report, at, part, dnsSubdomain)
}

export const checkDevice = (name: string, at: string, report: Report): void => { checkName(report, at, name, dnsLabel) }

export const checkLabel = (name: string, at: string, report: Report): void => {
  requiredName(report, at, name, dnsLabel)
}

export const checkClass = (name: string, at: string, report: Report): void => {
  requiredName(report, at, name, dnsSubdomain)
}

/** A UID in its usual form. */
export function checkShare (uid: string | undefined, at: string, report: Report): void {
  if (uid !== undefined && !UID.test(uid)) {
    invalid(report, at, uid, 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with ' +
      'lowercase hexadecimal characters')
  }
}

function checkIdentifier (id: string, at: string, report: Report): void {
  if (id.length > MAX_ID) tooLong(report, at, MAX_ID)
  if (!IDENTIFIER.test(id)) invalid(report, at, id, IDENTIFIER_WORDS)
}

/** `NAME`, or `DOMAIN/NAME`. */
export function checkAttributeName (name: string, at: string, report: Report): void {
  const [first = '', second, ...others] = name.split('/', 3) // two parts, and whether there are more
  if (others.length > 0) return invalid(report, at, name, 'must not contain more than one slash')
  if (second === undefined) return checkIdentifier(first, at, report)
  if (first === '') invalid(report, at, '', 'the domain must not be empty')
  else checkDriver(first, at, report)
  if (second === '') invalid(report, at, '', 'the name must not be empty')
  else checkIdentifier(second, at, report)
}

/** `DOMAIN/NAME`. */
export function checkFullName (name: string, at: string, report: Report): void {
  checkAttributeName(name, at, report)
  if (!name.includes('/')) {
    invalid(report, at, name, 'a fully qualified name must be a domain and a name separated by a slash')
  }
}

const MAX_CONDITIONS = 4

interface Binding {
  readonly bindingConditions?: readonly string[] | undefined
  readonly bindingFailureConditions?: readonly string[] | undefined
}

/** Conditions and failure conditions come together and share none. */
export function checkBinding (
  { bindingConditions: good = [], bindingFailureConditions: bad = [] }: Binding, at: string, report: Report
): void {
  const [goodAt, badAt] = [`${at}.bindingConditions`, `${at}.bindingFailureConditions`]
  for (const [names, path] of [[good, goodAt], [bad, badAt]] as const) {
    if (!isShort(names, MAX_CONDITIONS, path, report)) return
    for (const [index, name] of names.entries()) checkName(report, `${path}[${index}]`, name, qualifiedName)
    checkUnique(names, name => name, path, report)
  }
  for (const [index, name] of bad.entries()) {
    if (good.includes(name)) {
      invalid(report, `${badAt}[${index}]`, name, 'bindingFailureConditions must not overlap with bindingConditions')
    }
  }
  if (good.length === 0 && bad.length > 0) {
    invalid(report, goodAt, good, 'bindingConditions are required to use bindingFailureConditions')
  }
  if (bad.length === 0 && good.length > 0) {
    invalid(report, badAt, bad, 'bindingFailureConditions are required to use bindingConditions')
  }
}

/** The value of a label. */
export const checkValue = (value: string, at: string, report: Report): void => {
  checkName(report, at, value, labelValue)
}
