/**
 * Authorizes by a webhook, with a SubjectAccessReview. Decisions are cached as the flags specify. Failed calls are
 * retried; if all fail, the webhook has no opinion. (Interface: Authorization flags.)
 */
import type { FastifyBaseLogger } from 'fastify'
import { HttpClient, type HttpClientOptions } from '../../clients/http-client.js'
import type { Endpoint } from '../../clients/kubeconfig.js'
import type { Attributes, Authorizer, Ruling } from '../../auth/authorizer.js'
import type { RequestInfo } from '../../auth/request-info.js'
import { ReportedFailure } from '../../auth/refusal.js'
import type { SubjectAccessReviewSpec } from '../../schemas/api/authorization/accessreviews.js'
import { isReview } from '../../auth/review-answer.js'
import type { Clock } from '../../event-loop/clock.js'
import { reasonOf } from '../../storage/errors.js'
import type { Outside } from '../shared/outside.js'
import { occasionally } from '../shared/rate-limited.js'
import type { TimeReview } from '../shared/review-metrics.js'
import { AnswerCache, type Answer } from '../../clients/answer-cache.js'

export type FailurePolicy = 'NoOpinion' | 'Deny'

export interface AuthorizationWebhookOptions {
  /** From `--authorization-webhook-config-file`. */
  readonly endpoint: Endpoint
  /** Version of authorization.orch.io. Default v1beta1. */
  readonly version?: 'v1' | 'v1beta1'
  /** Milliseconds to cache an Allow. Default five minutes. */
  readonly authorizedTtl?: number
  /** Milliseconds to cache any other decision. Default 30 seconds. */
  readonly unauthorizedTtl?: number
  /** What a webhook that cannot be asked means. Default NoOpinion. */
  readonly failurePolicy?: FailurePolicy
  /** Milliseconds of a call. Default 30 seconds. */
  readonly timeout?: number
  /** Overrides for the HTTP client. */
  readonly client?: Partial<HttpClientOptions>
}

export interface AuthorizationWebhookContext {
  readonly log: FastifyBaseLogger
  readonly clock: Pick<Clock, 'elapsed'>
  readonly timed?: TimeReview
  /** Of webhooks. Default own names. */
  readonly names?: Pick<Outside, 'group' | 'accessReview'>
}

const RETRY = { attempts: 5, first: 500, factor: 1.5 }
const MAX_RESPONSE_BYTES = 64 * 1024
/** Maximum cached decisions of each sort. */
const MAX_CACHED = 4096
/** Maximum characters of a cached request, so that long names do not fill the memory. */
const MAX_CACHED_SPEC = 10_000
/** Maximum characters of a reason or error from the webhook. */
const MAX_TEXT_LENGTH = 1000

export function webhookAuthorizer (
  {
    endpoint, version = 'v1beta1', authorizedTtl = 300_000, unauthorizedTtl = 30_000, failurePolicy = 'NoOpinion',
    timeout,
    client: tuned
  }: AuthorizationWebhookOptions,
  { log, clock, timed = answer => answer, names }: AuthorizationWebhookContext
): Authorizer {
  const client = new HttpClient({
    caller: 'authorization-webhook', endpoint, maxResponseBytes: MAX_RESPONSE_BYTES,
    ...(timeout === undefined ? {} : { deadline: timeout }), ...tuned
  })
  const ownVersion = `authorization.orch.io/${version}`
  const apiVersion = names?.group(ownVersion) ?? ownVersion
  const shown = names?.accessReview
  const warn = occasionally((error: unknown) => { log.warn(`access cannot be reviewed: ${reasonOf(error)}`) })

  const lookup = async (spec: string): Promise<Answer<Ruling>> => {
    const sent = shown === undefined ? spec : JSON.stringify(sentAs(version, shown(JSON.parse(spec) as Spec)))
    const body = `{"apiVersion":"${apiVersion}","kind":"SubjectAccessReview","spec":${sent}}`
    const value = readAccessReview(
      await timed(client.json({ method: 'POST', headers: { accept: 'application/json, */*' }, body, retry: RETRY })),
      apiVersion
    )
    const positive = value.decision === 'Allow'
    const isCached = value.evaluationError === undefined && spec.length <= MAX_CACHED_SPEC
    return { value, positive, keepMs: isCached ? (positive ? authorizedTtl : unauthorizedTtl) : 0 }
  }
  const failed = (error: unknown): Ruling => {
    const failure = error instanceof TypeError
      ? new Error(`authorization-webhook: ${endpoint.server.origin}: ${error.message}`, { cause: error })
      : error
    warn(failure)
    return { decision: failurePolicy, evaluationError: new ReportedFailure(reasonOf(failure), { cause: failure }) }
  }

  const cache = new AnswerCache<Ruling>({ maxEntries: MAX_CACHED, now: clock.elapsed })
  return {
    name: 'Webhook',
    authorize: attributes => {
      const own = specOf(attributes)
      const spec = JSON.stringify(shown === undefined ? sentAs(version, own) : own)
      return cache.get(spec)?.value ?? cache.fetch(spec, () => lookup(spec)).catch(failed)
    },
    start: async () => { await client.load() },
    close: async () => { await client.close() }
  }
}

type Spec = Partial<SubjectAccessReviewSpec>

/** What is reviewed, as in v1; empty members are omitted. */
function specOf ({ user, info }: Attributes): Spec {
  const { path, isResourceRequest, verb } = info
  return {
    ...filled(isResourceRequest
      ? { resourceAttributes: filled({ ...resourceOf(info), ...selectorsOf(info) }) }
      : { nonResourceAttributes: filled({ path, verb }) }),
    ...filled({ user: user.username, groups: user.groups, extra: user.extra, uid: user.uid })
  }
}

/** What conditions read: what the webhook would be sent in v1. */
export const reviewedSpec = (attributes: Attributes, shown: Outside['accessReview']): object => shown === undefined
  ? specOf(attributes)
  : shown(structuredClone(specOf(attributes)))

/** An earlier version knows no selectors, and calls the groups otherwise. */
function sentAs (version: 'v1' | 'v1beta1', spec: Spec): object {
  if (version === 'v1') return spec
  const { groups = [], resourceAttributes, ...same } = spec
  const { fieldSelector: _fields, labelSelector: _labels, ...plain } = resourceAttributes ?? {}
  return filled({ resourceAttributes: plain, ...same, group: groups })
}

const resourceOf = ({ namespace, verb, group, version, resource, subresource, name }: RequestInfo): object =>
  ({ namespace, verb, group, version, resource, subresource, name })

const selectorsOf = ({ selectors }: RequestInfo): object => selectors === undefined
  ? {}
  : {
      fieldSelector: filled({ requirements: selectors.fields }),
      labelSelector: filled({ requirements: selectors.labels })
    }

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== ''
const filled = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value)))

/** @throws TypeError for an invalid review */
export function readAccessReview (answered: unknown, apiVersion: string): Ruling {
  const review = (answered ?? {}) as Record<string, unknown> // each member is checked below
  const { status } = review
  if (!isReview(review, { kind: 'SubjectAccessReview', apiVersion })) {
    throw new TypeError(`the answer is no SubjectAccessReview of ${apiVersion}`)
  }
  if (typeof status !== 'object' || status === null) throw new TypeError('status is missing or no object')
  const { allowed = false, denied = false, reason = '' } = status as Record<string, unknown>
  if (typeof allowed !== 'boolean') throw new TypeError('status.allowed is neither true nor false')
  if (typeof denied !== 'boolean') throw new TypeError('status.denied is neither true nor false')
  if (typeof reason !== 'string') throw new TypeError('status.reason is no text')
  // An evaluationError of the webhook is ignored: it decided nevertheless.
  const ruling: Ruling = {
    decision: denied ? 'Deny' : allowed ? 'Allow' : 'NoOpinion', reason: reason.slice(0, MAX_TEXT_LENGTH)
  }
  return allowed && denied
    ? { ...ruling, evaluationError: new Error('status.allowed and status.denied are both true') }
    : ruling
}
