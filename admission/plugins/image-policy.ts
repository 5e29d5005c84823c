/**
 * ImagePolicyWebhook: asks another server whether the images of a pod are allowed, and caches the results. If the
 * server is unavailable, pods are refused, or admitted with an annotation, as configured. (Disabled by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { isReview } from '../../auth/review-answer.js'
import { qualifiedName } from '../../schemas/names.js'
import { withSpan } from '../../registry/trace.js'
import type { PluginConfiguration } from '../configuration.js'
import { pluginFor, type TypedRequest, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'
import type { ImageSpec } from '../names.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'
import { imagePolicyIn } from './image-policy-configuration.js'

const API_VERSION = 'imagepolicy.orch.io/v1alpha1'
const ANNOTATIONS = 'imagepolicywebhook.image-policy.orch.io/'
/** Part of the annotation keys that are sent to the server. */
const FORWARDED = '.image-policy.orch.io/'
const FAILED_OPEN = 'alpha.image-policy.orch.io/failed-open'
const MAX_CACHED = 1024

interface Status {
  readonly allowed: boolean, readonly reason: string, readonly annotations: Readonly<Record<string, string>>
}

export async function imagePolicy (
  name: string, { callers, clock, gates, names }: AdmissionTools, given: PluginConfiguration | undefined
): Promise<AdmissionPlugin> {
  const { kubeConfigFile, allowTTL, denyTTL, retryBackoff, defaultAllow } = imagePolicyIn(name, given)
  const review = await callers.reviewer(kubeConfigFile, retryBackoff)
  const metadata = gates.enabled('UnsetTimesAreOmitted') ? {} : { creationTimestamp: null }
  const apiVersion = names.group(API_VERSION)
  const cache = new Map<string, { readonly status: Status, readonly until: number }>()

  const statusOf = async (
    spec: Spec, { signal, trace }: Pick<AdmissionRequest, 'signal' | 'trace'>
  ): Promise<Status> => {
    const key = JSON.stringify(spec)
    const cached = cache.get(key)
    if (cached !== undefined && clock.elapsed() < cached.until) return cached.status
    cache.delete(key)
    const body = { kind: 'ImageReview', apiVersion, metadata, spec: names.images(spec), status: { allowed: false } }
    const status = readStatus(
      await withSpan(trace, 'Call image policy webhook', part => review(body, signal, part?.traceparent)), apiVersion
    )
    const oldest = cache.size >= MAX_CACHED ? cache.keys().next().value : undefined
    if (oldest !== undefined) cache.delete(oldest)
    cache.set(key, { status, until: clock.elapsed() + (status.allowed ? allowTTL : denyTTL) })
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
        // As upstream, the only change a validating plugin makes.
        object.metadata.annotations = { ...object.metadata.annotations, [FAILED_OPEN]: 'true' }
        return
      }
      for (const [suffix, value] of Object.entries(status.annotations)) {
        if (qualifiedName(`${ANNOTATIONS}${suffix}`).length === 0) annotate(`${ANNOTATIONS}${suffix}`, value)
      }
      if (status.allowed) return
      throw refusal(request, status.reason === ''
        ? 'one or more images rejected by webhook backend'
        : `image policy webhook backend denied one or more images: ${status.reason}`)
    }
  })
}

interface Spec extends ImageSpec { readonly containers?: ReadonlyArray<{ readonly image?: string }> }

/** The review's spec, without empty fields. */
function specOf ({ subresource, namespace }: TypedRequest<Pod>, { metadata: { annotations = {} }, spec }: Pod): Spec {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {}
  const images = subresource === '' ? [...containers, ...initContainers] : ephemeralContainers
  const forwarded = Object.entries(annotations).filter(([key]) => key.includes(FORWARDED)).sort(([one], [other]) =>
    one < other ? -1 : 1)
  return {
    ...(images.length === 0
      ? {}
      : { containers: images.map(({ image }) => image === undefined || image === '' ? {} : { image }) }),
    ...(forwarded.length === 0 ? {} : { annotations: Object.fromEntries(forwarded) }),
    ...(namespace === '' ? {} : { namespace })
  }
}

/** @throws Error if the response is not a review */
function readStatus (response: unknown, apiVersion: string): Status {
  const review = (response ?? {}) as Record<string, unknown> // fields are checked below
  const { status } = review
  if (!isReview(review, { kind: 'ImageReview', apiVersion })) {
    throw new Error(`the answer is no ImageReview of ${apiVersion}`)
  }
  const { allowed = false, reason = '', auditAnnotations } = (status ?? {}) as Record<string, unknown>
  const texts = auditAnnotations ?? {}
  if (typeof allowed !== 'boolean' || typeof reason !== 'string') {
    throw new Error('the answer does not say whether the images are allowed')
  }
  if (typeof texts !== 'object' || Array.isArray(texts) ||
    !Object.values(texts).every(value => typeof value === 'string')) {
    throw new Error('the answer has status.auditAnnotations that are no texts')
  }
  return { allowed, reason: reason.slice(0, MAX_REASON_LENGTH), annotations: texts as Record<string, string> }
}

const MAX_REASON_LENGTH = 1000
