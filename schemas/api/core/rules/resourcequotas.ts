/** Validation of ResourceQuotas. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { invalid, required } from '../../../rules/findings.js'
import { isQuotaResource, validateAmount, validateQuotaResourceName } from '../../../rules/quantities.js'
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../resourcequotas.js'

export const SCOPES = [
  'Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'
]
/** Scope of claims, which the gate of its name brings. */
export const ATTRIBUTES = 'VolumeAttributesClass'
const CONFLICTS = [['BestEffort', 'NotBestEffort'], ['Terminating', 'NotTerminating']]
/** Scopes that take no values. */
const VALUELESS = SCOPES.filter(scope => scope !== 'PriorityClass')
const OF_CLAIMS = ['persistentvolumeclaims', 'requests.storage']
const OF_PODS = ['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']

export function validateHard (amounts: Readonly<Record<string, string>> | undefined, at: string, report: Report): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    validateQuotaResourceName(report, `${at}[${name}]`, name)
    validateAmount(report, `${at}[${name}]`, name, amount)
  }
}

function isCounted (scope: string, name: string, known: readonly string[]): boolean {
  if (!known.includes(scope)) return true
  if (scope === ATTRIBUTES) return OF_CLAIMS.includes(name)
  return scope === 'BestEffort' ? name === 'pods' : OF_PODS.includes(name)
}

/** As upstream, errors about scopes have the path of the whole list. */
export function validateQuotaSpec (spec: ResourceQuotaSpec, at: string, report: Report): void {
  const { hard = {}, scopes = [], scopeSelector } = spec
  const names = Object.keys(hard).filter(isQuotaResource)
  const known = isOn(report, ATTRIBUTES) ? [...SCOPES, ATTRIBUTES] : SCOPES
  const validateScope = (scope: string, field: string, all: unknown): void => {
    for (const name of names) {
      if (!isCounted(scope, name, known)) invalid(report, field, all, 'unsupported scope applied to resource')
    }
  }
  const validateTogether = (list: readonly string[], field: string): void => {
    for (const pair of CONFLICTS) {
      if (pair.every(scope => list.includes(scope))) invalid(report, field, scopes, 'conflicting scopes')
    }
  }
  validateHard(hard, `${at}.hard`, report)
  for (const scope of scopes) {
    if (!known.includes(scope)) invalid(report, `${at}.scopes`, scopes, 'unsupported scope')
    validateScope(scope, `${at}.scopes`, scopes)
  }
  validateTogether(scopes, `${at}.scopes`)
  if (scopeSelector === undefined) return
  const field = `${at}.scopeSelector.matchExpressions`
  const requirements = scopeSelector.matchExpressions ?? []
  for (const requirement of requirements) {
    if (!known.includes(requirement.scopeName)) {
      invalid(report, `${field}.scopeName`, requirement.scopeName, 'unsupported scope')
    }
    validateScope(requirement.scopeName, field, scopeSelector)
    validateOperator(requirement, field, report)
  }
  validateTogether(requirements.map(({ scopeName }) => scopeName), field)
}

function validateOperator (
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, at: string, report: Report
): void {
  if (VALUELESS.includes(scopeName) && operator !== 'Exists') {
    invalid(
      report, `${at}.operator`, operator,
      "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
        'ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'
    )
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      required(
        report, `${at}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
      )
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      invalid(
        report, `${at}.values`, values,
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
      )
    }
  } else invalid(report, `${at}.operator`, operator, 'not a valid selector operator')
}

export function validateQuotaUpdate (
  { scopes = [] }: ResourceQuotaSpec, { scopes: old = [] }: ResourceQuotaSpec, at: string, report: Report
): void {
  const [now, before] = [new Set(scopes), new Set(old)]
  if (now.size !== before.size || !scopes.every(scope => before.has(scope))) {
    invalid(report, `${at}.scopes`, scopes, 'field is immutable')
  }
}
