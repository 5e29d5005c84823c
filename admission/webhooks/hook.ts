/** A webhook of a configuration, made ready to be asked: what it is for, how it is reached and what its failure means. */
import type { MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhook, ValidatingWebhookConfiguration } from '../../schemas/api/admissionregistration/webhooks.js'
import type { LabelSelector } from '../../schemas/meta/options.js'
import { targetOf } from './target.js'
import type { HookTarget } from './target.js'

/** Versions of AdmissionReview that this server speaks. */
export type ReviewVersion = 'v1' | 'v1beta1'

export interface Hook {
  readonly name: string
  /** Name of the object it is from. */
  readonly configuration: string
  /** Tells it from all others, of the same name in the same configuration too. */
  readonly uid: string
  readonly rules: readonly RuleWithOperations[]
  /** Whether rules that name another version of a resource hold as well. */
  readonly equivalent: boolean
  /** Undefined for all. */
  readonly namespaceSelector: LabelSelector | undefined
  readonly objectSelector: LabelSelector | undefined
  /** Whether a request goes on when the hook cannot be asked. */
  readonly ignoresFailure: boolean
  /** Milliseconds. */
  readonly timeout: number
  /** Whether it can be asked about a dry run. */
  readonly takesDryRun: boolean
  /** Whether it is asked again when a later one has changed the object. */
  readonly reinvoked: boolean
  /** The first of its list that is known here; undefined where none is. */
  readonly version: ReviewVersion | undefined
  readonly target: HookTarget
}

const SECOND = 1000
const DEFAULT_TIMEOUT = 10 * SECOND
const HARMLESS: ReadonlySet<string | undefined> = new Set(['None', 'NoneOnDryRun'])

/** In the order of the configuration. */
export function hooksOf ({ metadata: { name: configuration = '' }, webhooks = [] }: MutatingWebhookConfiguration | ValidatingWebhookConfiguration): Hook[] {
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
      namespaceSelector: chosen(webhook.namespaceSelector),
      objectSelector: chosen(webhook.objectSelector),
      ignoresFailure: webhook.failurePolicy === 'Ignore',
      timeout: timeoutSeconds === undefined ? DEFAULT_TIMEOUT : timeoutSeconds * SECOND,
      takesDryRun: HARMLESS.has(webhook.sideEffects),
      reinvoked: 'reinvocationPolicy' in webhook && webhook.reinvocationPolicy === 'IfNeeded',
      version: admissionReviewVersions.find(isKnown),
      target: targetOf(webhook.clientConfig)
    }
  })
}

const isKnown = (version: string): version is ReviewVersion => version === 'v1' || version === 'v1beta1'

/** Undefined for one that selects everything. */
function chosen (selector: LabelSelector | undefined): LabelSelector | undefined {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0 ? undefined : selector
}
