/** Names of types that are defined at run time: they become words of URLs. */
import type { Report } from '../../../language/declare.js'
import { dns1035Label, type NameRule } from '../../../names.js'
import { invalid } from '../../../rules/findings.js'
import type { CustomResourceDefinitionNames } from '../customresourcedefinitions.js'

/** One finding, whatever is wrong with it; whether there is one. */
export function validateOne (rule: NameRule, value: string, field: string, report: Report, before = ''): boolean {
  const wrong = rule(value)
  if (wrong.length > 0) invalid(report, field, value, `${before}${wrong.join()}`)
  return wrong.length > 0
}

const mixedCase: NameRule = name => dns1035Label(name.toLowerCase())
const MIXED = 'may have mixed case, but should otherwise match: '

/** Names as far as there are any: those of the status are empty until they are accepted. */
export function validateGivenNames (names: CustomResourceDefinitionNames, at: string, report: Report): void {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names
  if (plural !== '') validateOne(dns1035Label, plural, `${at}.plural`, report)
  if (singular !== '') validateOne(dns1035Label, singular, `${at}.singular`, report)
  if (kind !== '') validateOne(mixedCase, kind, `${at}.kind`, report, MIXED)
  if (listKind !== '') validateOne(mixedCase, listKind, `${at}.listKind`, report, MIXED)
  for (const [index, name] of shortNames.entries()) validateOne(dns1035Label, name, `${at}.shortNames[${index}]`, report)
  if (kind !== '' && kind === listKind) invalid(report, `${at}.listKind`, listKind, 'kind and listKind may not be the same')
  for (const [index, name] of categories.entries()) validateOne(dns1035Label, name, `${at}.categories[${index}]`, report)
}
