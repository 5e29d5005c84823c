/** MutatingWebhookConfiguration and ValidatingWebhookConfiguration (v1). */
import { age, integer, name, type Column } from '../../columns.js'
import { int32, one, inline, bytes, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { LabelSelector } from '../../meta/options.js'
import type { Strategy } from '../../strategy.js'
import { resource } from '../../resource.js'
import { MatchCondition } from './match-condition.js'
import { validateConditionsOf, validateNames, validateWebhook } from './rules/webhooks.js'

const { kind, message } = apiPackage('admissionregistration.orch.io', 'v1', 'io.orch.api.admissionregistration.v1')

const GATE = 'AdmissionWebhookMatchConditions'
const CONDITIONS = 'Expressions that must all be true of a request; otherwise the webhook is not called.'
const CONDITIONAL = {
  listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name', gate: GATE, since: '1.27'
} as const

export type ServiceReference = Static<typeof ServiceReference>
export const ServiceReference = message('ServiceReference', 'A service through which a webhook is reached.', {
  namespace: string(1, 'Namespace of the service.', { required: true, ruled: true }),
  name: string(2, 'Name of the service.', { required: true, ruled: true }),
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

export type Rule = Static<typeof Rule>
export const Rule = message('Rule', 'Resources a webhook is called for.', {
  apiGroups: list(1, 'API groups of the resources; * means all.', 'string'),
  apiVersions: list(2, 'API versions of the resources; * means all.', 'string'),
  resources: list(3, 'Resources in plural, such as pods or pods/log; * means all.', 'string'),
  scope: string(4, 'Scope of the resources, Cluster, Namespaced or *; by default *.', {
    pointer: true, values: ['Cluster', 'Namespaced', '*'], closed: true, default: '*'
  })
})

export type RuleWithOperations = Static<typeof RuleWithOperations>
export const RuleWithOperations = message('RuleWithOperations', 'Operations and resources a webhook is called for.', {
  operations: list(1, 'Operations: CREATE, UPDATE, DELETE, CONNECT or * for all.', 'string', {
    values: ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'], closed: 'ruled'
  }),
  rule: inline(2, 'Resources the webhook is called for.', Rule)
})

export type MutatingWebhook = Static<typeof MutatingWebhook>
export const MutatingWebhook = message('MutatingWebhook', 'A webhook that may change objects before they are stored.', {
  name: string(1, 'Name of the webhook, fully qualified, such as images.example.com.', { required: true }),
  clientConfig: one(2, 'How the webhook is reached.', WebhookClientConfig, { required: true }),
  rules: list(3, 'Requests the webhook is called for.', RuleWithOperations),
  failurePolicy: string(4, 'What a failed call means, Ignore or Fail; by default Fail.', {
    pointer: true, values: ['Ignore', 'Fail'], closed: true, default: 'Fail'
  }),
  matchPolicy: string(9, 'How rules match other versions, Exact or Equivalent; by default Equivalent.', {
    pointer: true, values: ['Exact', 'Equivalent'], closed: true, default: 'Equivalent'
  }),
  namespaceSelector: one(5, 'Labels of the namespaces to call it for; by default all.', LabelSelector, {
    pointer: true, default: {}
  }),
  objectSelector: one(11, 'Labels of the objects to call it for; by default all.', LabelSelector, {
    pointer: true, default: {}
  }),
  sideEffects: string(6, 'Whether calls have side effects: None or NoneOnDryRun.', {
    required: true, pointer: true, missing: 'must specify one of None, NoneOnDryRun',
    values: ['Unknown', 'None', 'Some', 'NoneOnDryRun'], closed: 'ruled'
  }),
  timeoutSeconds: int32(7, 'Seconds a call may take, from 1 to 30; by default 10.', { pointer: true, default: 10 }),
  admissionReviewVersions: list(
    8, 'Versions of AdmissionReview the webhook takes, preferred first.', 'string', { required: true }
  ),
  reinvocationPolicy: string(10, 'Whether it may be called again, Never or IfNeeded; by default Never.', {
    pointer: true, values: ['Never', 'IfNeeded'], closed: true, default: 'Never'
  }),
  matchConditions: list(12, CONDITIONS, MatchCondition, CONDITIONAL)
}, { validate: (webhook, at, report) => { validateWebhook(webhook, at, report) } })

export type MutatingWebhookConfiguration = Static<typeof MutatingWebhookConfiguration>
export const MutatingWebhookConfiguration =
  kind('MutatingWebhookConfiguration', 'Webhooks that may accept, refuse and change objects.', {
    metadata,
    webhooks: list(2, 'Webhooks and the requests they are called for.', MutatingWebhook, {
      patchStrategy: 'merge', patchMergeKey: 'name', protoName: 'Webhooks'
    })
  }, { validate: ({ webhooks = [] }, _at, report) => { validateNames(webhooks, report) } })

export type ValidatingWebhook = Static<typeof ValidatingWebhook>
export const ValidatingWebhook =
  message('ValidatingWebhook', 'A webhook that may refuse objects before they are stored.', {
    name: string(1, 'Name of the webhook, fully qualified, such as images.example.com.', { required: true }),
    clientConfig: one(2, 'How the webhook is reached.', WebhookClientConfig, { required: true }),
    rules: list(3, 'Requests the webhook is called for.', RuleWithOperations),
    failurePolicy: string(4, 'What a failed call means, Ignore or Fail; by default Fail.', {
      pointer: true, values: ['Ignore', 'Fail'], closed: true, default: 'Fail'
    }),
    matchPolicy: string(9, 'How rules match other versions, Exact or Equivalent; by default Equivalent.', {
      pointer: true, values: ['Exact', 'Equivalent'], closed: true, default: 'Equivalent'
    }),
    namespaceSelector: one(5, 'Labels of the namespaces to call it for; by default all.', LabelSelector, {
      pointer: true, default: {}
    }),
    objectSelector: one(10, 'Labels of the objects to call it for; by default all.', LabelSelector, {
      pointer: true, default: {}
    }),
    sideEffects: string(6, 'Whether calls have side effects: None or NoneOnDryRun.', {
      required: true, pointer: true, missing: 'must specify one of None, NoneOnDryRun',
      values: ['Unknown', 'None', 'Some', 'NoneOnDryRun'], closed: 'ruled'
    }),
    timeoutSeconds: int32(7, 'Seconds a call may take, from 1 to 30; by default 10.', { pointer: true, default: 10 }),
    admissionReviewVersions: list(
      8, 'Versions of AdmissionReview the webhook takes, preferred first.', 'string', { required: true }
    ),
    matchConditions: list(11, CONDITIONS, MatchCondition, CONDITIONAL)
  }, { validate: (webhook, at, report) => { validateWebhook(webhook, at, report) } })

export type ValidatingWebhookConfiguration = Static<typeof ValidatingWebhookConfiguration>
export const ValidatingWebhookConfiguration =
  kind('ValidatingWebhookConfiguration', 'Webhooks that may accept or refuse objects.', {
    metadata,
    webhooks: list(2, 'Webhooks and the requests they are called for.', ValidatingWebhook, {
      patchStrategy: 'merge', patchMergeKey: 'name', protoName: 'Webhooks'
    })
  }, { validate: ({ webhooks = [] }, _at, report) => { validateNames(webhooks, report) } })

const columns: ReadonlyArray<Column<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>> = [
  name,
  integer('Webhooks', 'Number of webhooks.', ({ webhooks }) => webhooks?.length),
  age
]

/** A webhook without its conditions is called for requests that its author left out. */
const strategy: Strategy<MutatingWebhookConfiguration | ValidatingWebhookConfiguration> = {
  notKept: ({ webhooks = [] }, _old, gates) => {
    const at = gates.enabled(GATE) ? -1 : webhooks.findIndex(({ matchConditions = [] }) => matchConditions.length > 0)
    return at < 0
      ? []
      : [`webhooks[${at}].matchConditions are not kept, as the feature gate ${GATE} is off: the webhook is called ` +
          'for every request that its rules match']
  }
}

export const mutatingWebhookConfigurations = resource(MutatingWebhookConfiguration, {
  plural: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  anyFinalizer: true,
  unconditionalUpdate: false,
  generation: ({ webhooks }) => webhooks,
  strategy,
  rules: { inSteps: (configuration, _old, report) => validateConditionsOf(configuration, report) },
  columns
})

export const validatingWebhookConfigurations = resource(ValidatingWebhookConfiguration, {
  plural: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  anyFinalizer: true,
  unconditionalUpdate: false,
  generation: ({ webhooks }) => webhooks,
  strategy,
  rules: { inSteps: (configuration, _old, report) => validateConditionsOf(configuration, report) },
  columns
})
