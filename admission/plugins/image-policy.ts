/**
 * ImagePolicyWebhook: asks another server whether the images of a pod may be used, and remembers its answers for a while. When it
 * cannot be asked pods are refused, or let in with a mark, as the configuration says. (An admission plugin that is off by default.)
 */
import type { Pod } from '../../schemas/api/core/pods.js'
import { pods } from '../../schemas/api/core/pods.js'
import { isReview } from '../../auth/review-answer.js'
import { qualifiedName } from '../../schemas/names.js'
import { during } from '../../registry/trace.js'
import { systemClock, type Clock } from '../../storage/clock.js'
import type { PluginConfiguration } from '../configuration.js'
import { pluginFor } from '../../registry/admission.js'
import type { AdmissionPlugin, AdmissionRequest, TypedRequest } from '../../registry/admission.js'
import type { AdmissionCallers } from '../options.js'
import { refusal } from '../refusal.js'
import { imagePolicyIn } from './image-policy-configuration.js'

const API_VERSION = 'imagepolicy.orch.io/v1alpha1'
const ANNOTATIONS = 'imagepolicywebhook.image-policy.orch.io/'
/** In the keys of what of a pod is shown to the other server. */
const SHOWN = '.image-policy.orch.io/'
const FAILED_OPEN = 'alpha.image-policy.orch.io/failed-open'
const MOST_KEPT = 1024

interface Status { readonly allowed: boolean, readonly reason: string, readonly annotations: Readonly<Record<string, string>> }

export async function imagePolicy (name: string, callers: AdmissionCallers, given: PluginConfiguration | undefined, clock: Pick<Clock, 'elapsed'> = systemClock): Promise<AdmissionPlugin> {
  const { kubeConfigFile, allowTTL, denyTTL, retryBackoff, defaultAllow } = imagePolicyIn(name, given)
  const review = await callers.reviewer(kubeConfigFile, retryBackoff)
  const kept = new Map<string, { readonly status: Status, readonly until: number }>()

  const statusOf = async (spec: object, { signal, trace }: Pick<AdmissionRequest, 'signal' | 'trace'>): Promise<Status> => {
    const key = JSON.stringify(spec)
    const known = kept.get(key)
    if (known !== undefined && clock.elapsed() < known.until) return known.status
    kept.delete(key)
    const asked = { kind: 'ImageReview', apiVersion: API_VERSION, metadata: { creationTimestamp: null }, spec, status: { allowed: false } }
    const status = readStatus(await during(trace, 'Call image policy webhook', part => review(asked, signal, part?.traceparent)))
    const oldest = kept.size >= MOST_KEPT ? kept.keys().next().value : undefined
    if (oldest !== undefined) kept.delete(oldest)
    kept.set(key, { status, until: clock.elapsed() + (status.allowed ? allowTTL : denyTTL) })
    return status
  }

  return pluginFor<Pod>(pods, {
    name: 'ImagePolicyWebhook',
    operations: ['CREATE', 'UPDATE'],
    subresources: ['', 'ephemeralcontainers'],
    validate: async request => {
      const { object, annotate } = request
      if (object === undefined) return
      let status: Status
      try {
        status = await statusOf(specOf(request, object), request)
      } catch (error) {
        if (!defaultAllow) throw refusal(request, error instanceof Error ? error.message : String(error))
        annotate(`${ANNOTATIONS}failed-open`, 'true')
        // The mark of the convention, and the one thing that is set where all else only judges.
        object.metadata.annotations = { ...object.metadata.annotations, [FAILED_OPEN]: 'true' }
        return
      }
      for (const [suffix, value] of Object.entries(status.annotations)) if (qualifiedName(`${ANNOTATIONS}${suffix}`).length === 0) annotate(`${ANNOTATIONS}${suffix}`, value)
      if (status.allowed) return
      throw refusal(request, status.reason === '' ? 'one or more images rejected by webhook backend' : `image policy webhook backend denied one or more images: ${status.reason}`)
    }
  })
}

/** What is asked; what is empty is left out. */
function specOf ({ subresource, namespace }: TypedRequest<Pod>, { metadata: { annotations = {} }, spec }: Pod): object {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  const images = subresource === '' ? [...containers, ...initContainers] : ephemeralContainers
  const shown = Object.entries(annotations).filter(([key]) => key.includes(SHOWN)).sort(([one], [other]) => one < other ? -1 : 1)
  return {
    ...(images.length === 0 ? {} : { containers: images.map(({ image }) => image === undefined || image === '' ? {} : { image }) }),
    ...(shown.length === 0 ? {} : { annotations: Object.fromEntries(shown) }),
    ...(namespace === '' ? {} : { namespace })
  }
}

/** @throws Error for what is no review */
function readStatus (answer: unknown): Status {
  const review = (answer ?? {}) as Record<string, unknown> // looked into field by field
  const { status } = review
  if (!isReview(review, { kind: 'ImageReview', apiVersion: API_VERSION })) throw new Error(`the answer is no ImageReview of ${API_VERSION}`)
  const { allowed = false, reason = '', auditAnnotations } = (status ?? {}) as Record<string, unknown>
  const texts = auditAnnotations ?? {}
  if (typeof allowed !== 'boolean' || typeof reason !== 'string') throw new Error('the answer does not say whether the images are allowed')
  if (typeof texts !== 'object' || Array.isArray(texts) || !Object.values(texts).every(value => typeof value === 'string')) throw new Error('the answer has status.auditAnnotations that are no texts')
  return { allowed, reason: reason.slice(0, MOST_REASON), annotations: texts as Record<string, string> }
}

const MOST_REASON = 1000
