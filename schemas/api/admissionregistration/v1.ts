/** The public types of admissionregistration.orch.io/v1. */
export {
  MutatingWebhook, MutatingWebhookConfiguration, Rule, RuleWithOperations, ServiceReference, ValidatingWebhook,
  ValidatingWebhookConfiguration, WebhookClientConfig
} from './webhooks.js'
