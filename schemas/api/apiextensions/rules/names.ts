/** Validation of names in CustomResourceDefinitions, which become parts of URLs. */
import type { Report } from '../../../language/declare.js'
import { dns1035Label, type NameRule } from '../../../names.js'
import { invalid } from '../../../rules/findings.js'
import type { CustomResourceDefinitionNames } from '../customresourcedefinitions.js'

/** Reports all violations as one finding. @returns whether there are any */
export function validateOne (rule: NameRule, value: string, field: string, report: Report, before = ''): boolean {
  const wrong = rule(value)
  if (wrong.length > 0) invalid(report, field, value, `${before}${wrong.join()}`)
  return wrong.length > 0
}

const mixedCase: NameRule = name => dns1035Label(name.toLowerCase())
const MIXED = 'may have mixed case, but should otherwise match: '

/** Skips empty names: those in the status are empty until they are accepted. */
export function validateGivenNames (names: CustomResourceDefinitionNames, at: string, report: Report): void {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names
  if (plural !== '') validateOne(dns1035Label, plural, `${at}.plural`, report)
  if (singular !== '') validateOne(dns1035Label, singular, `${at}.singular`, report)
  if (kind !== '') validateOne(mixedCase, kind, `${at}.kind`, report, MIXED)
  if (listKind !== '') validateOne(mixedCase, listKind, `${at}.listKind`, report, MIXED)
  for (const [index, name] of shortNames.entries()) {
    validateOne(dns1035Label, name, `${at}.shortNames[${index}]`, report)
  }
  if (kind !== '' && kind === listKind) {
    invalid(report, `${at}.listKind`, listKind, 'kind and listKind may not be the same')
  }
  for (const [index, name] of categories.entries()) {
    validateOne(dns1035Label, name, `${at}.categories[${index}]`, report)
  }
}
