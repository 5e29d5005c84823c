/** Validation of validating admission policies and their bindings. */
import type { Environment } from '../../../../expressions/program.js'
import { BOOL, NULL, STRING } from '../../../../expressions/types.js'
import type { Report } from '../../../language/types.js'
import { qualifiedName } from '../../../names.js'
import type { Steps } from '../../../steps.js'
import { duplicate, invalid, notSupported, required } from '../../../rules/findings.js'
import { policyEnvironment } from '../policy-expressions.js'
import type {
  AuditAnnotation, Validation, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBindingSpec
} from '../validating-policies.js'
import { compiled } from './expressions.js'
import { validateCommon, validateCommonOfBinding } from './policies.js'

const MOST_ANNOTATIONS = 20
const MOST_VALUE_EXPRESSION = 5120
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const ACTIONS = ['Audit', 'Deny', 'Warn']

/** In steps: it compiles every expression. */
export function * validatePolicy ({ metadata, spec = {} }: ValidatingAdmissionPolicy, report: Report): Steps<void> {
  const { validations = [], auditAnnotations = [] } = spec
  const given = yield * validateCommon(spec, report)
  const said = 'validations or auditAnnotations must contain at least one item'
  if (validations.length === 0 && auditAnnotations.length === 0) {
    required(report, 'spec.validations', said)
    required(report, 'spec.auditAnnotations', said)
  }
  const environment = policyEnvironment(given)
  const ofMessages = policyEnvironment({ ...given, authorizer: false })
  for (const [index, validation] of validations.entries()) {
    validateValidation(validation, environment, ofMessages, `spec.validations[${index}]`, report)
    yield
  }
  validateAnnotations(auditAnnotations, environment, metadata.name ?? '', report)
}

function validateValidation (
  { expression, message = '', reason, messageExpression = '' }: Validation, environment: Environment,
  ofMessages: Environment, at: string, report: Report
): void {
  if (expression.trim() === '') required(report, `${at}.expression`, 'expression is not specified')
  else compiled(environment, expression, `${at}.expression`, report, [BOOL])
  if (messageExpression !== '' && messageExpression.trim() === '') {
    invalid(report, `${at}.messageExpression`, messageExpression, 'must be non-empty if specified')
  } else if (messageExpression !== '') {
    compiled(ofMessages, messageExpression, `${at}.messageExpression`, report, [STRING])
  }
  const said = message.trim()
  if (message !== '' && said === '') {
    invalid(report, `${at}.message`, message, 'message must be non-empty if specified')
  } else if (/[\r\n]/.test(said)) invalid(report, `${at}.message`, message, 'message must not contain line breaks')
  if (reason !== undefined && !REASONS.includes(reason)) notSupported(report, `${at}.reason`, reason, REASONS)
}

function validateAnnotations (
  annotations: readonly AuditAnnotation[], environment: Environment, policy: string, report: Report
): void {
  const at = 'spec.auditAnnotations'
  if (annotations.length > MOST_ANNOTATIONS) {
    invalid(report, at, annotations, `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`)
  }
  const keys = new Set<string>()
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const path = `${at}[${index}]`
    if (policy === '') invalid(report, `${path}.key`, key, 'requires metadata.name be non-empty')
    else {
      for (const wrong of qualifiedName(`${policy}/${key}`)) invalid(report, `${path}.key`, `${policy}/${key}`, wrong)
    }
    const expression = valueExpression.trim()
    if (expression === '') required(report, `${path}.valueExpression`, 'valueExpression is not specified')
    else if (expression.length > MOST_VALUE_EXPRESSION) {
      required(report, `${path}.valueExpression`, `must not exceed ${MOST_VALUE_EXPRESSION} bytes in length`)
    } else compiled(environment, expression, `${path}.valueExpression`, report, [STRING, NULL])
    if (keys.has(key)) duplicate(report, `${path}.key`, key)
    keys.add(key)
  }
}

export function validateBinding (spec: ValidatingAdmissionPolicyBindingSpec, report: Report): void {
  validateCommonOfBinding(spec, report)
  const { validationActions = [] } = spec
  const at = 'spec.validationActions'
  const seen = new Set<string>()
  for (const [index, action] of validationActions.entries()) {
    if (!ACTIONS.includes(action)) notSupported(report, `${at}[${index}]`, action, ACTIONS)
    if (seen.has(action)) duplicate(report, `${at}[${index}]`, action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    invalid(report, at, validationActions, 'must not contain both Deny and Warn (repeating the same validation ' +
      'failure information in the API response and headers serves no purpose)')
  }
  if (seen.size === 0) required(report, at, 'at least one validation action is required')
}
