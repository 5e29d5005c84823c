/** Validation of admission policies and bindings. Expressions are compiled; what they may cost is not estimated. */
import type { Environment } from '../../../../expressions/program.js'
import type { Type } from '../../../../expressions/types.js'
import type { Report } from '../../../language/types.js'
import { dns1035Label, dnsSubdomain, qualifiedName } from '../../../names.js'
import {
  checkName, duplicate, forbidden, invalid, notSupported, required, tooLong
} from '../../../rules/findings.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import type { MatchResources, ParamKind, ParamRef, Variable } from '../policies.js'
import { policyEnvironment, type PolicyVariables } from '../policy-expressions.js'
import type {
  AuditAnnotation, Validation, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBindingSpec
} from '../validating-policies.js'
import { compiled, validateConditions } from './expressions.js'
import { validateRule } from './webhooks.js'

const MOST_ANNOTATIONS = 20
const MOST_VALUE_EXPRESSION = 5120
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const ACTIONS = ['Deny', 'Warn', 'Audit']
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/
const RESERVED = new Set(`as break const continue else false for function if import in let loop package namespace null
  return true var void while`.split(/\s+/))

export function validatePolicy ({ metadata, spec = {} }: ValidatingAdmissionPolicy, report: Report): void {
  const { paramKind, matchConstraints, validations = [], auditAnnotations = [], matchConditions = [], variables = [] } =
    spec
  const params = paramKind !== undefined
  if (paramKind !== undefined) validateParamKind(paramKind, 'spec.paramKind', report)
  if (matchConstraints === undefined) required(report, 'spec.matchConstraints')
  else {
    if ((matchConstraints.resourceRules ?? []).length === 0) required(report, 'spec.matchConstraints.resourceRules')
    validateMatchResources(matchConstraints, 'spec.matchConstraints', report)
  }
  validateConditions(matchConditions, policyEnvironment({ params, authorizer: true }), 'spec.matchConditions', report)
  const types = validateVariables(variables, { params, authorizer: true }, 'spec.variables', report)
  const said = 'validations or auditAnnotations must contain at least one item'
  if (validations.length === 0 && auditAnnotations.length === 0) {
    required(report, 'spec.validations', said)
    required(report, 'spec.auditAnnotations', said)
  }
  const environment = policyEnvironment({ params, authorizer: true, variables: types })
  const ofMessages = policyEnvironment({ params, authorizer: false, variables: types })
  for (const [index, validation] of validations.entries()) {
    validateValidation(validation, environment, ofMessages, `spec.validations[${index}]`, report)
  }
  validateAnnotations(auditAnnotations, environment, metadata.name ?? '', report)
}

export function validateParamKind ({ apiVersion = '', kind = '' }: ParamKind, at: string, report: Report): void {
  if (apiVersion === '') required(report, `${at}.apiVersion`)
  else if (!/^(?:[^/]+\/)?[^/]+$/.test(apiVersion)) {
    invalid(report, `${at}.apiVersion`, apiVersion, 'must be GROUP/VERSION, or VERSION')
  }
  if (kind === '') required(report, `${at}.kind`)
  else {
    for (const wrong of dns1035Label(kind.toLowerCase())) {
      invalid(report, `${at}.kind`, kind, `may have mixed case, but should otherwise match: ${wrong}`)
    }
  }
}

export function validateMatchResources (
  of: MatchResources, at: string, report: Report, operations?: readonly string[]
): void {
  const { namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = of
  if (namespaceSelector !== undefined) validateLabelSelector(namespaceSelector, `${at}.namespaceSelector`, report)
  if (objectSelector !== undefined) validateLabelSelector(objectSelector, `${at}.objectSelector`, report)
  for (const [field, rules] of [
    ['resourceRules', resourceRules], ['excludeResourceRules', excludeResourceRules]
  ] as const) {
    for (const [index, rule] of rules.entries()) {
      const path = `${at}.${field}[${index}]`
      validateRule(rule, path, report, operations)
      const seen = new Set<string>()
      for (const [nth, name] of (rule.resourceNames ?? []).entries()) {
        if (seen.has(name)) duplicate(report, `${path}.resourceNames[${nth}]`, name)
        else if (name === '' || /[/%]/.test(name) || name === '.' || name === '..') {
          invalid(report, `${path}.resourceNames[${nth}]`, name, 'must be the name of an object')
        }
        seen.add(name)
      }
    }
  }
}

/** @returns their types, in order */
export function validateVariables (
  variables: readonly Variable[], given: Omit<PolicyVariables, 'variables'>, at: string, report: Report
): Map<string, Type> {
  const types = new Map<string, Type>()
  for (const [index, { name, expression }] of variables.entries()) {
    const path = `${at}[${index}]`
    if (name === '') required(report, `${path}.name`)
    else if (!IDENTIFIER.test(name) || RESERVED.has(name)) {
      invalid(report, `${path}.name`, name, 'name is not a valid CEL identifier')
    } else if (types.has(name)) duplicate(report, `${path}.name`, name)
    if (expression.trim() === '') required(report, `${path}.expression`)
    else {
      const environment = policyEnvironment({ ...given, variables: new Map(types) })
      types.set(name, compiled(environment, expression, `${path}.expression`, report) ?? { kind: 'dyn' })
    }
  }
  return types
}

function validateValidation (
  { expression, message = '', reason, messageExpression = '' }: Validation, environment: Environment,
  ofMessages: Environment, at: string, report: Report
): void {
  if (expression.trim() === '') required(report, `${at}.expression`, 'expression is not specified')
  else compiled(environment, expression, `${at}.expression`, report, ['bool'])
  if (message !== '' &&
    message.trim() === '') invalid(report, `${at}.message`, message, 'message must be non-empty if specified')
  else if (/[\r\n]/.test(message)) invalid(report, `${at}.message`, message, 'message must not contain line breaks')
  else if (message === '' && /[\r\n]/.test(expression.trim())) {
    required(report, `${at}.message`, 'message must be specified if expression contains line breaks')
  }
  if (reason !== undefined && !REASONS.includes(reason)) notSupported(report, `${at}.reason`, reason, REASONS)
  if (messageExpression === '') return
  if (messageExpression.trim() === '') {
    invalid(report, `${at}.messageExpression`, messageExpression, 'must be non-empty if specified')
  } else compiled(ofMessages, messageExpression, `${at}.messageExpression`, report, ['string'])
}

function validateAnnotations (
  annotations: readonly AuditAnnotation[], environment: Environment, policy: string, report: Report
): void {
  const at = 'spec.auditAnnotations'
  if (annotations.length > MOST_ANNOTATIONS) {
    return invalid(report, at, annotations.length, `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`)
  }
  const keys = new Set<string>()
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const path = `${at}[${index}]`
    if (key === '') required(report, `${path}.key`)
    else {
      for (const wrong of qualifiedName(`${policy}/${key}`)) {
        invalid(report, `${path}.key`, key, `Audit annotation key must be a qualified name: ${wrong}`)
      }
      if (keys.has(key)) duplicate(report, `${path}.key`, key)
      keys.add(key)
    }
    if (valueExpression.trim() === '') required(report, `${path}.valueExpression`, 'valueExpression is not specified')
    else if (valueExpression.length > MOST_VALUE_EXPRESSION) {
      tooLong(report, `${path}.valueExpression`, MOST_VALUE_EXPRESSION)
    } else compiled(environment, valueExpression, `${path}.valueExpression`, report, ['string', 'null_type'])
  }
}

export function validateBinding (
  { policyName, paramRef, matchResources, validationActions = [] }: ValidatingAdmissionPolicyBindingSpec, report: Report
): void {
  if (policyName === '') required(report, 'spec.policyName')
  else checkName(report, 'spec.policyName', policyName, dnsSubdomain)
  if (paramRef !== undefined) validateParamRef(paramRef, 'spec.paramRef', report)
  if (matchResources !== undefined) validateMatchResources(matchResources, 'spec.matchResources', report)
  const at = 'spec.validationActions'
  if (validationActions.length === 0) required(report, at)
  const seen = new Set<string>()
  for (const [index, action] of validationActions.entries()) {
    if (!ACTIONS.includes(action)) notSupported(report, `${at}[${index}]`, action, ACTIONS)
    else if (seen.has(action)) duplicate(report, `${at}[${index}]`, action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    invalid(report, at, validationActions, 'must not contain both Deny and Warn, which would tell the same twice')
  }
}

export function validateParamRef (
  { name = '', namespace = '', selector, parameterNotFoundAction = '' }: ParamRef, at: string, report: Report
): void {
  if (name !== '' && selector !== undefined) {
    const said = 'name and selector are mutually exclusive'
    forbidden(report, `${at}.name`, said)
    forbidden(report, `${at}.selector`, said)
  } else if (name === '' && selector === undefined) required(report, at, 'one of name or selector must be specified')
  if (name !== '') checkName(report, `${at}.name`, name, dnsSubdomain)
  if (namespace !== '') checkName(report, `${at}.namespace`, namespace, dnsSubdomain)
  if (selector !== undefined) validateLabelSelector(selector, `${at}.selector`, report)
  if (parameterNotFoundAction === '') required(report, `${at}.parameterNotFoundAction`)
  else if (!['Allow', 'Deny'].includes(parameterNotFoundAction)) {
    notSupported(report, `${at}.parameterNotFoundAction`, parameterNotFoundAction, ['Deny', 'Allow'])
  }
}
