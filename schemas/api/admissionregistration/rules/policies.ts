/** What validation of validating and mutating admission policies and of their bindings has in common. */
import { DYN } from '../../../../expressions/types.js'
import type { Report } from '../../../language/types.js'
import { dns1035Label, dnsSubdomain, pathSegment } from '../../../names.js'
import { checkName, duplicate, forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import type { Steps } from '../../../steps.js'
import type { MatchCondition } from '../match-condition.js'
import type { MatchResources, ParamKind, ParamRef, Variable } from '../policies.js'
import { addVariable, policyEnvironment, type OwnVariable, type PolicyVariables } from '../policy-expressions.js'
import { compiled, validateConditions } from './expressions.js'
import { validateRule } from './webhooks.js'

const FAILURE_POLICIES = ['Fail', 'Ignore']
const MATCH_POLICIES = ['Equivalent', 'Exact']
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/
const RESERVED = new Set(`as break const continue else false for function if import in let loop package namespace null
  return true var void while`.split(/\s+/))

interface Policy {
  readonly failurePolicy?: string | undefined
  readonly paramKind?: ParamKind | undefined
  readonly matchConstraints?: MatchResources | undefined
  readonly matchConditions?: readonly MatchCondition[] | undefined
  readonly variables?: readonly Variable[] | undefined
}

/** @param operations those that rules may name; default all @returns what the policy's other expressions may read */
export function * validateCommon (
  { failurePolicy, paramKind, matchConstraints, matchConditions = [], variables = [] }: Policy, report: Report,
  operations?: readonly string[]
): Steps<PolicyVariables> {
  const given = { params: paramKind !== undefined, authorizer: true }
  validateValue(failurePolicy, FAILURE_POLICIES, 'spec.failurePolicy', report)
  if (paramKind !== undefined) validateParamKind(paramKind, 'spec.paramKind', report)
  if (matchConstraints === undefined) required(report, 'spec.matchConstraints')
  else {
    validateMatchResources(matchConstraints, 'spec.matchConstraints', report)
    if ((matchConstraints.resourceRules ?? []).length === 0) required(report, 'spec.matchConstraints.resourceRules')
    validateOperations(matchConstraints, operations, 'spec.matchConstraints', report)
  }
  yield
  yield * validateConditions(matchConditions, policyEnvironment(given), 'spec.matchConditions', report)
  yield
  return { ...given, variables: yield * validateVariables(variables, given, 'spec.variables', report) }
}

interface Binding {
  readonly policyName?: string | undefined
  readonly paramRef?: ParamRef | undefined
  readonly matchResources?: MatchResources | undefined
}

/** @param operations those that rules may name; default all */
export function validateCommonOfBinding (
  { policyName = '', paramRef, matchResources }: Binding, report: Report, operations?: readonly string[]
): void {
  if (policyName === '') required(report, 'spec.policyName')
  else checkName(report, 'spec.policyName', policyName, dnsSubdomain)
  if (paramRef !== undefined) validateParamRef(paramRef, 'spec.paramRef', report)
  if (matchResources === undefined) return
  validateMatchResources(matchResources, 'spec.matchResources', report)
  validateOperations(matchResources, operations, 'spec.matchResources', report)
}

/** Of a field that defaults fill. */
function validateValue (value: string | undefined, known: readonly string[], at: string, report: Report): void {
  if (value !== undefined && !known.includes(value)) notSupported(report, at, value, known)
}

function validateParamKind ({ apiVersion = '', kind = '' }: ParamKind, at: string, report: Report): void {
  const [version = '', group, ...more] = apiVersion.split('/').reverse()
  if (apiVersion === '') required(report, `${at}.apiVersion`)
  else if (more.length > 0) {
    invalid(report, `${at}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
  } else {
    const wrong = group === undefined || group === '' ? [] : dnsSubdomain(group)
    if (wrong.length > 0) invalid(report, `${at}.apiVersion`, group, wrong.join(','))
    const ofVersion = version === '' ? [] : dns1035Label(version)
    if (version === '') invalid(report, `${at}.apiVersion`, apiVersion, 'version must be specified')
    else if (ofVersion.length > 0) invalid(report, `${at}.apiVersion`, version, ofVersion.join(','))
  }
  const ofKind = kind === '' ? [] : dns1035Label(kind.toLowerCase())
  if (kind === '') required(report, `${at}.kind`)
  else if (ofKind.length > 0) {
    invalid(report, `${at}.kind`, kind, `may have mixed case, but should otherwise match: ${ofKind.join(',')}`)
  }
}

function validateMatchResources (of: MatchResources, at: string, report: Report): void {
  const { namespaceSelector, objectSelector, matchPolicy, resourceRules = [], excludeResourceRules = [] } = of
  validateValue(matchPolicy, MATCH_POLICIES, `${at}.matchPolicy`, report)
  if (namespaceSelector !== undefined) validateLabelSelector(namespaceSelector, `${at}.namespaceSelector`, report)
  if (objectSelector !== undefined) validateLabelSelector(objectSelector, `${at}.objectSelector`, report)
  for (const [field, rules] of [
    ['resourceRules', resourceRules], ['excludeResourceRules', excludeResourceRules]
  ] as const) {
    for (const [index, rule] of rules.entries()) {
      const path = `${at}.${field}[${index}]`
      const seen = new Set<string>()
      for (const [nth, name] of (rule.resourceNames ?? []).entries()) {
        checkName(report, `${path}.resourceNames[${nth}]`, name, pathSegment)
        if (seen.has(name)) duplicate(report, `${path}.resourceNames[${nth}]`, name)
        seen.add(name)
      }
      validateRule(rule, path, report)
    }
  }
}

function validateOperations (
  { resourceRules = [] }: MatchResources, allowed: readonly string[] | undefined, at: string, report: Report
): void {
  if (allowed === undefined) return
  for (const operation of resourceRules.flatMap(({ operations = [] }) => operations)) {
    if (!allowed.includes(operation)) notSupported(report, `${at}.resourceRules.operations`, operation, allowed)
  }
}

/** @returns their types, in order */
function * validateVariables (
  variables: readonly Variable[], given: PolicyVariables, at: string, report: Report
): Steps<Map<string, OwnVariable>> {
  const types = new Map<string, OwnVariable>()
  for (const [index, { name, expression }] of variables.entries()) {
    const path = `${at}[${index}]`
    if (name.trim() === '') required(report, `${path}.name`, 'name is not specified')
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
      invalid(report, `${path}.name`, name, 'name is not a valid CEL identifier')
    }
    if (expression.trim() === '') required(report, `${path}.expression`, 'expression is not specified')
    else {
      const environment = policyEnvironment({ ...given, variables: types })
      addVariable(types, name, compiled(environment, expression, `${path}.expression`, report) ?? DYN)
      yield
    }
  }
  return types
}

function validateParamRef (
  { name = '', selector, parameterNotFoundAction = '' }: ParamRef, at: string, report: Report
): void {
  const both = name !== '' && selector !== undefined
  const said = 'name and selector are mutually exclusive'
  if (name !== '') checkName(report, `${at}.name`, name, pathSegment)
  if (both) forbidden(report, `${at}.name`, said)
  if (selector !== undefined) validateLabelSelector(selector, `${at}.selector`, report)
  if (both) forbidden(report, `${at}.selector`, said)
  if (name === '' && selector === undefined) required(report, at, 'one of name or selector must be specified')
  if (parameterNotFoundAction === '') required(report, `${at}.parameterNotFoundAction`)
  else if (!['Allow', 'Deny'].includes(parameterNotFoundAction)) {
    notSupported(report, `${at}.parameterNotFoundAction`, parameterNotFoundAction, ['Deny', 'Allow'])
  }
}
