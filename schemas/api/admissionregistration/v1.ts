/** The types of admissionregistration.orch.io/v1, for those who use them elsewhere. */
export {
  MutatingWebhook, MutatingWebhookConfiguration, Rule, RuleWithOperations, ServiceReference, ValidatingWebhook, ValidatingWebhookConfiguration,
  WebhookClientConfig
} from './webhooks.js'
