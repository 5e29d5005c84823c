/** The public types of admissionregistration.orch.io/v1. */
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
