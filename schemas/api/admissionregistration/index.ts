/** The resources of admissionregistration.orch.io. */
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from './webhooks.js'

export const admissionRegistration = [mutatingWebhookConfigurations, validatingWebhookConfigurations]
