/** The public types of admissionregistration.orch.io/v1. */
import type { Static } from '../../language/declare.js'
import { declare } from './mutating-declarations.js'

export {
  MutatingWebhook, MutatingWebhookConfiguration, Rule, RuleWithOperations, ServiceReference, ValidatingWebhook,
  ValidatingWebhookConfiguration, WebhookClientConfig
} from './webhooks.js'
export { MatchCondition } from './match-condition.js'
export { MatchResources, NamedRuleWithOperations, ParamKind, ParamRef, Variable } from './policies.js'
export {
  AuditAnnotation, ExpressionWarning, TypeChecking, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec, ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyStatus, Validation
} from './validating-policies.js'

export const {
  ApplyConfiguration, JSONPatch, Mutation, MutatingAdmissionPolicySpec, MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBindingSpec, MutatingAdmissionPolicyBinding
} = declare('v1')

export type ApplyConfiguration = Static<typeof ApplyConfiguration>
export type JSONPatch = Static<typeof JSONPatch>
export type Mutation = Static<typeof Mutation>
export type MutatingAdmissionPolicySpec = Static<typeof MutatingAdmissionPolicySpec>
export type MutatingAdmissionPolicy = Static<typeof MutatingAdmissionPolicy>
export type MutatingAdmissionPolicyBindingSpec = Static<typeof MutatingAdmissionPolicyBindingSpec>
export type MutatingAdmissionPolicyBinding = Static<typeof MutatingAdmissionPolicyBinding>
