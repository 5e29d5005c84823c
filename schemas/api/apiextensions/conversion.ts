/** Conversion of custom resources between versions. */
import { int32, one, bytes, string, list, type Static } from '../../language/declare.js'
import { message } from './package.js'

export type ServiceReference = Static<typeof ServiceReference>
export const ServiceReference = message('ServiceReference', 'A service through which a webhook is reached.', {
  namespace: string(1, 'Namespace of the service.', { required: true }),
  name: string(2, 'Name of the service.', { required: true }),
  path: string(3, 'URL path of the request.', { pointer: true }),
  port: int32(4, 'Port of the service; by default 443.', { pointer: true, default: 443 })
})

export type WebhookClientConfig = Static<typeof WebhookClientConfig>
export const WebhookClientConfig =
  message('WebhookClientConfig', 'How a webhook is reached; either url or service is set.', {
    url: string(3, 'URL of the webhook, with scheme https.', { pointer: true }),
    service: one(1, 'Service the webhook runs in.', ServiceReference, { pointer: true }),
    caBundle: bytes(2, 'CA certificates (PEM) that the webhook is checked with.')
  })

export type WebhookConversion = Static<typeof WebhookConversion>
export const WebhookConversion = message('WebhookConversion', 'A webhook that converts objects between versions.', {
  clientConfig: one(2, 'How the webhook is reached.', WebhookClientConfig, { pointer: true }),
  conversionReviewVersions: list(
    3, 'Versions of ConversionReview the webhook takes, preferred first.', 'string', { required: true }
  )
})

export type CustomResourceConversion = Static<typeof CustomResourceConversion>
export const CustomResourceConversion =
  message('CustomResourceConversion', 'How objects are converted between versions.', {
    strategy: string(1, 'How objects are converted: None or Webhook.', { required: true, values: ['None', 'Webhook'] }),
    webhook: one(2, 'Webhook that converts, for strategy Webhook.', WebhookConversion, { pointer: true, ruled: true })
  })
