/** LabelSelector objects: validation, matching, and conversion to text. */
import type { Report } from '../language/declare.js'
import type { LabelSelector } from '../meta/options.js'
import { validateLabels } from '../meta/metadata.js'
import { labelValue, qualifiedName } from '../names.js'
import { forbidden, invalid, checkName, required } from '../rules/findings.js'

export function validateLabelSelector (selector: LabelSelector, at: string, report: Report): void {
  validateLabels(selector.matchLabels, `${at}.matchLabels`, report)
  selector.matchExpressions?.forEach((requirement, index) => {
    const field = `${at}.matchExpressions[${index}]`
    if (!validateOperands(requirement, field, report)) {
      invalid(report, `${field}.operator`, requirement.operator, 'not a valid selector operator')
    }
    checkName(report, `${field}.key`, requirement.key, qualifiedName)
  })
}

/** Whether the operator is known; one that is has the values it needs. */
export function validateOperands ({ operator, values = [] }: Requirement, at: string, report: Report): boolean {
  switch (operator) {
    case 'In': case 'NotIn':
      if (values.length === 0) {
        required(report, `${at}.values`, 'must be specified when `operator` is \'In\' or \'NotIn\'')
      }
      return true
    case 'Exists': case 'DoesNotExist':
      if (values.length > 0) {
        forbidden(report, `${at}.values`, 'may not be specified when `operator` is \'Exists\' or \'DoesNotExist\'')
      }
      return true
    default: return false
  }
}

/**
 * Whether the labels match: undefined selects nothing, an empty selector everything. Undefined for an invalid selector.
 */
export function selects (
  selector: LabelSelector | undefined, labels: Readonly<Record<string, string>> = {}
): boolean | undefined {
  if (selector === undefined) return false
  return requirementsOf(selector)?.every(({ key, operator, values = [] }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
    switch (operator) {
      case 'In': return value !== undefined && values.includes(value)
      case 'NotIn': return value === undefined || !values.includes(value)
      default: return (value !== undefined) === (operator === 'Exists')
    }
  })
}

interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

/** The requirements; undefined if one is invalid. */
function requirementsOf ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Requirement[] | undefined {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions
  ]
  return requirements.every(isRequirement) ? requirements : undefined
}

/** Whether the selector is valid, including its label values. */
export const isSelector = (selector: LabelSelector): boolean => requirementsOf(selector) !== undefined

function isRequirement ({ key, operator, values = [] }: Requirement): boolean {
  const several = operator === 'In' || operator === 'NotIn'
  if (!several && operator !== 'Exists' && operator !== 'DoesNotExist') return false
  return several === (values.length > 0) && qualifiedName(key).length === 0 &&
    values.every(value => labelValue(value).length === 0)
}

/**
 * As in a query: `a=b,c in (x,y),!d`, sorted by key. Missing and empty selectors are ''. Undefined for an invalid one.
 */
export function selectorText (selector: LabelSelector | undefined): string | undefined {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  if (requirementsOf({ matchLabels, matchExpressions }) === undefined) return undefined
  const requirements = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  for (const { key, operator, values = [] } of matchExpressions) {
    const sorted = [...values].sort().join(',')
    switch (operator) {
      case 'In': requirements.push({ key, text: `${key} in (${sorted})` }); break
      case 'NotIn': requirements.push({ key, text: `${key} notin (${sorted})` }); break
      case 'Exists': requirements.push({ key, text: key }); break
      default: requirements.push({ key, text: `!${key}` })
    }
  }
  return requirements
    .sort((one, other) => one.key < other.key ? -1 : Number(one.key > other.key)).map(({ text }) => text).join(',')
}

/** Whether the labels match. Values need not be valid labels; an unknown operator matches nothing. */
export function matchesSelector (
  { matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Readonly<Record<string, string>>
): boolean {
  const value = (key: string): string | undefined => Object.hasOwn(labels, key) ? labels[key] : undefined
  return Object.entries(matchLabels).every(([key, wanted]) => value(key) === wanted) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const there = value(key)
      switch (operator) {
        case 'In': return there !== undefined && values.includes(there)
        case 'NotIn': return there === undefined || !values.includes(there)
        case 'Exists': return there !== undefined
        case 'DoesNotExist': return there === undefined
        default: return false
      }
    })
}
