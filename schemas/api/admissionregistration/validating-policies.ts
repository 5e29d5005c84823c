/** ValidatingAdmissionPolicy and its binding (v1): what requests must be, in CEL. */
import { age, integer, name, text } from '../../columns.js'
import { int64, list, one, string, apiPackage, type Static } from '../../language/declare.js'
import { Condition } from '../../meta/answers.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { resource } from '../../resource.js'
import { validateConditions } from '../../rules/conditions.js'
import { MatchCondition } from './match-condition.js'
import { MatchResources, ParamKind, ParamRef, Variable } from './policies.js'
import { paramKindCell, paramRefCell } from './policy-columns.js'
import { validateBinding, validatePolicy } from './rules/validating-policies.js'

const { kind, message } = apiPackage('admissionregistration.orch.io', 'v1', 'io.orch.api.admissionregistration.v1')
const STATUS_REASONS = [
  '', 'Unauthorized', 'Forbidden', 'NotFound', 'AlreadyExists', 'Conflict', 'Gone', 'Invalid', 'ServerTimeout',
  'StorageReadError', 'Timeout', 'TooManyRequests', 'BadRequest', 'MethodNotAllowed', 'NotAcceptable',
  'RequestEntityTooLarge', 'UnsupportedMediaType', 'InternalError', 'Expired', 'ServiceUnavailable'
]
const GATE = 'ValidatingAdmissionPolicy'

export type Validation = Static<typeof Validation>
export const Validation = message('Validation', 'What a request must be.', {
  expression: string(1, 'An expression that must be true.', { required: true, ruled: true, protoName: 'Expression' }),
  message: string(2, 'Says what is wrong where it is false.'),
  reason: string(3, 'Why the request is refused then; by default Invalid.', {
    pointer: true, values: STATUS_REASONS
  }),
  messageExpression: string(4, 'An expression that makes the message; it has precedence.')
})

export type AuditAnnotation = Static<typeof AuditAnnotation>
export const AuditAnnotation = message('AuditAnnotation', 'An annotation of audit events.', {
  key: string(1, 'Its key, after the name of the policy and a slash.', { required: true, ruled: true }),
  valueExpression: string(2, 'An expression that makes its value; there is none where it is null.', {
    required: true, ruled: true
  })
})

export type ValidatingAdmissionPolicySpec = Static<typeof ValidatingAdmissionPolicySpec>
export const ValidatingAdmissionPolicySpec = message('ValidatingAdmissionPolicySpec', 'What a policy wants.', {
  paramKind: one(1, 'Kind of its parameters; without it there are none.', ParamKind, { pointer: true }),
  matchConstraints: one(2, 'Requests that it is for.', MatchResources, { pointer: true }),
  validations: list(3, 'What requests must be.', Validation, { listType: 'atomic' }),
  failurePolicy: string(4, 'What an error means, Ignore or Fail; by default Fail.', {
    pointer: true, values: ['Ignore', 'Fail'], closed: 'ruled', default: 'Fail'
  }),
  auditAnnotations: list(5, 'Annotations of audit events.', AuditAnnotation, { listType: 'atomic' }),
  matchConditions: list(6, 'Expressions that must all be true of requests that it is for.', MatchCondition, {
    listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  variables: list(7, 'Expressions with names.', Variable, {
    listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name'
  })
})

export type ExpressionWarning = Static<typeof ExpressionWarning>
export const ExpressionWarning = message('ExpressionWarning', 'What is wrong with an expression for some types.', {
  fieldRef: string(2, 'The field with the expression.', { required: true }),
  warning: string(3, 'What is wrong.', { required: true })
})

export type TypeChecking = Static<typeof TypeChecking>
export const TypeChecking = message('TypeChecking', 'What checking the types of expressions has found.', {
  expressionWarnings: list(1, 'What is wrong.', ExpressionWarning, { listType: 'atomic' })
})

export type ValidatingAdmissionPolicyStatus = Static<typeof ValidatingAdmissionPolicyStatus>
export const ValidatingAdmissionPolicyStatus =
  message('ValidatingAdmissionPolicyStatus', 'What is known of a policy.', {
    observedGeneration: int64(1, 'The generation that was checked.'),
    typeChecking: one(2, 'What checking the types of expressions has found.', TypeChecking, { pointer: true }),
    conditions: list(3, 'Conditions of the policy.', Condition, { listType: 'map', listMapKeys: ['type'] })
  }, {
    validate: ({ conditions = [] }, at, report) => { validateConditions(conditions, `${at}.conditions`, report) }
  })

export type ValidatingAdmissionPolicy = Static<typeof ValidatingAdmissionPolicy>
export const ValidatingAdmissionPolicy = kind('ValidatingAdmissionPolicy', 'What requests must be.', {
  metadata,
  spec: one(2, 'What the policy wants.', ValidatingAdmissionPolicySpec),
  status: one(3, 'What is known of the policy; written by the system.', ValidatingAdmissionPolicyStatus)
})

export type ValidatingAdmissionPolicyBindingSpec = Static<typeof ValidatingAdmissionPolicyBindingSpec>
export const ValidatingAdmissionPolicyBindingSpec =
  message('ValidatingAdmissionPolicyBindingSpec', 'Where a policy holds, and what its refusals do.', {
    policyName: string(1, 'Name of the policy.', { required: true, ruled: true }),
    paramRef: one(2, 'Parameters of the policy.', ParamRef, { pointer: true }),
    matchResources: one(3, 'Requests that it holds for, among those of the policy; by default all.', MatchResources, {
      pointer: true
    }),
    validationActions: list(4, 'What a refusal does: Deny, Warn, Audit.', 'string', {
      required: true, ruled: true, listType: 'set', values: ['Deny', 'Warn', 'Audit'], closed: 'ruled'
    })
  })

export type ValidatingAdmissionPolicyBinding = Static<typeof ValidatingAdmissionPolicyBinding>
export const ValidatingAdmissionPolicyBinding =
  kind('ValidatingAdmissionPolicyBinding', 'Where a validating policy holds.', {
    metadata,
    spec: one(2, 'Where the policy holds.', ValidatingAdmissionPolicyBindingSpec, { required: true })
  }, { validate: ({ spec }, _at, report) => { validateBinding(spec, report) } })

export const validatingAdmissionPolicies = resource(ValidatingAdmissionPolicy, {
  plural: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  categories: ['api-extensions'],
  namespaced: false,
  unconditionalUpdate: false,
  gate: GATE,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  generation: ({ spec }) => spec,
  rules: {
    inSteps: (policy, _old, report, subresource) =>
      subresource === 'status' ? undefined : validatePolicy(policy, report)
  },
  columns: [
    name,
    integer('Validations', 'Number of validations.', ({ spec }) => spec?.validations?.length ?? 0),
    text('ParamKind', 'Kind of the parameters.', ({ spec }) => paramKindCell(spec?.paramKind)),
    age
  ]
})

export const validatingAdmissionPolicyBindings = resource(ValidatingAdmissionPolicyBinding, {
  plural: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  categories: ['api-extensions'],
  namespaced: false,
  unconditionalUpdate: false,
  gate: GATE,
  generation: ({ spec }) => spec,
  columns: [
    name,
    text('PolicyName', 'Name of the policy.', ({ spec }) => spec.policyName),
    text('ParamRef', 'Parameters of the policy.', ({ spec }) => paramRefCell(spec.paramRef)),
    age
  ]
})
