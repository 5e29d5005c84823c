/** A compiled webhook: what it matches, how to call it, and what its failure means. */
import type {
  MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhook, ValidatingWebhookConfiguration
} from '../../schemas/api/admissionregistration/webhooks.js'
import type { LabelSelector } from '../../schemas/meta/options.js'
import { WEBHOOK_CONDITIONS } from '../../schemas/api/admissionregistration/policy-expressions.js'
import { conditionsOf, type Named } from '../policies/policy.js'
import { targetOf, type HookTarget } from './target.js'

/** Supported versions of AdmissionReview. */
export type ReviewVersion = 'v1' | 'v1beta1'

export interface Hook {
  readonly name: string
  /** Name of its configuration object. */
  readonly configuration: string
  /** Unique, even among hooks of the same name in one configuration. */
  readonly uid: string
  readonly rules: readonly RuleWithOperations[]
  /** Whether rules for other versions of a resource match as well. */
  readonly equivalent: boolean
  /** Undefined for all. */
  readonly namespaceSelector: LabelSelector | undefined
  readonly objectSelector: LabelSelector | undefined
  /** Whether requests proceed if the call fails. */
  readonly ignoresFailure: boolean
  /** In milliseconds. */
  readonly timeout: number
  /** Whether it supports dry runs. */
  readonly takesDryRun: boolean
  /** Whether it is called again after a later hook changed the object. */
  readonly reinvoked: boolean
  /** The first supported version in its list; undefined if none is. */
  readonly version: ReviewVersion | undefined
  /** Expressions that must be true of a request. */
  readonly conditions: readonly Named[]
  readonly target: HookTarget
}

const SECOND = 1000
const DEFAULT_TIMEOUT = 10 * SECOND
const NO_SIDE_EFFECTS: ReadonlySet<string | undefined> = new Set(['None', 'NoneOnDryRun'])

/** In the order of the configuration. */
export function hooksOf (
  { metadata: { name: configuration = '' }, webhooks = [] }:
    MutatingWebhookConfiguration | ValidatingWebhookConfiguration
): Hook[] {
  const seen = new Map<string, number>()
  return webhooks.map((webhook: MutatingWebhook | ValidatingWebhook) => {
    const { name, rules = [], admissionReviewVersions = [], timeoutSeconds } = webhook
    const at = seen.get(name) ?? 0
    seen.set(name, at + 1)
    return {
      name,
      configuration,
      uid: `${configuration}/${name}/${at}`,
      rules,
      equivalent: webhook.matchPolicy !== 'Exact',
      namespaceSelector: nonEmpty(webhook.namespaceSelector),
      objectSelector: nonEmpty(webhook.objectSelector),
      ignoresFailure: webhook.failurePolicy === 'Ignore',
      timeout: timeoutSeconds === undefined ? DEFAULT_TIMEOUT : timeoutSeconds * SECOND,
      takesDryRun: NO_SIDE_EFFECTS.has(webhook.sideEffects),
      reinvoked: 'reinvocationPolicy' in webhook && webhook.reinvocationPolicy === 'IfNeeded',
      version: admissionReviewVersions.find(isKnown),
      conditions: conditionsOf(webhook.matchConditions ?? [], WEBHOOK_CONDITIONS),
      target: targetOf(webhook.clientConfig)
    }
  })
}

const isKnown = (version: string): version is ReviewVersion => version === 'v1' || version === 'v1beta1'

/** Undefined for a selector that matches everything. */
export function nonEmpty (selector: LabelSelector | undefined): LabelSelector | undefined {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0 ? undefined : selector
}
