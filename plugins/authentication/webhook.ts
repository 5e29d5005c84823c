/**
 * Authenticates bearer tokens by a webhook, with a TokenReview. Positive and negative results are cached for
 * --authentication-token-webhook-cache-ttl. Failed calls are retried; if all fail, this request is not authenticated.
 * (Interface: Webhook token.)
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Tunnel } from '../../clients/egress/tunnel.js'
import { HttpClient, type HttpClientOptions } from '../../clients/http-client.js'
import type { Endpoint } from '../../clients/kubeconfig.js'
import type { Authenticated, Authenticator } from '../../auth/authenticator.js'
import { isReview } from '../../auth/review-answer.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Clock } from '../../event-loop/clock.js'
import type { Metrics } from '../shared/metric-series.js'
import { reasonOf } from '../../storage/errors.js'
import { occasionally } from '../shared/rate-limited.js'
import { outgoingMetrics } from '../shared/outgoing-metrics.js'
import { reviewMetrics } from '../shared/review-metrics.js'
import { bearerToken } from './token-file.js'
import { TokenCache, type TokenAnswer } from './token-cache.js'

export interface TokenWebhookOptions {
  /** From `--authentication-token-webhook-config-file`. */
  readonly endpoint: Endpoint
  /** Version of authentication.orch.io. Default v1beta1. */
  readonly version?: 'v1' | 'v1beta1'
  /** Milliseconds to cache a result. Default two minutes. */
  readonly cacheTtl?: number
  /** For tests. */
  readonly client?: Partial<HttpClientOptions>
}

export interface TokenWebhookContext {
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  readonly clock: Clock
  /** To servers of the control plane. */
  readonly tunnel?: Tunnel | undefined
  /** Audiences of this server. */
  readonly audiences: readonly string[]
  /** A group, or `GROUP/VERSION`, as webhooks know it. Default its own name. */
  readonly shownGroup?: (own: string) => string
}

const GROUP = 'authentication.orch.io'
const RETRY = { attempts: 5, first: 500, factor: 1.5 }
/** Maximum characters of a token; headers cannot hold more, but a TokenReview can. */
const MAX_TOKEN_LENGTH = 64 * 1024
/** Maximum bytes of a response. */
const MAX_RESPONSE_BYTES = 1024 * 1024

export function tokenWebhookAuthenticator (
  { endpoint, version = 'v1beta1', cacheTtl = 120_000, client: tuned }: TokenWebhookOptions,
  { log, metrics, clock, tunnel, audiences: own, shownGroup = group => group }: TokenWebhookContext
): Authenticator {
  const client = new HttpClient({
    caller: 'token-webhook', endpoint, maxResponseBytes: MAX_RESPONSE_BYTES, tunnel, ...outgoingMetrics(metrics),
    ...tuned
  })
  const apiVersion = shownGroup(`${GROUP}/${version}`)
  const warn = occasionally((error: unknown) => { log.warn(`tokens cannot be reviewed: ${reasonOf(error)}`) })

  const timed = reviewMetrics(metrics, 'authn')

  const lookup = async (token: string, audiences: readonly string[] | undefined): Promise<TokenAnswer> => {
    const requested = audiences ?? (own.length === 0 ? undefined : own)
    const review = {
      apiVersion, kind: 'TokenReview', spec: { token, ...(requested === undefined ? {} : { audiences: requested }) }
    }
    const answered = await timed(client.json({
      method: 'POST', headers: { accept: 'application/json, */*' }, body: JSON.stringify(review), retry: RETRY
    }))
      .catch((error: unknown) => {
        warn(error)
        throw error
      })
    try {
      const result = readTokenReview(answered, apiVersion, requested, own)
      if (result === undefined || audiences !== undefined) return { found: result }
      const { audiences: _confirmed, ...user } = result // the caller requested no audiences
      return { found: user }
    } catch (error) {
      if (!(error instanceof TypeError)) throw withoutToken(reasonOf(error), token)
      const failure = new Error(`token-webhook: ${endpoint.server.origin}: ${error.message}`, { cause: error })
      warn(failure)
      throw failure
    }
  }

  const cache = new TokenCache({ lookup, known: cacheTtl, unknown: cacheTtl, metrics, clock })
  return {
    name: 'webhook',
    knowsAudiences: true,
    authenticate: ({ headers, audiences }) => {
      const token = bearerToken(headers['authorization'])
      if (token === undefined) return undefined
      if (token.length > MAX_TOKEN_LENGTH) throw new Error(`the token has more than ${MAX_TOKEN_LENGTH} characters`)
      return cache.find(token, audiences)
    },
    start: async () => { await client.load() },
    close: async () => { await client.close() }
  }
}

/** @throws TypeError for an invalid review, Error with the webhook's error message */
export function readTokenReview (
  answered: unknown, apiVersion: string, requested: readonly string[] | undefined, own: readonly string[]
): Authenticated | undefined {
  const review = fields(answered, 'the answer')
  const { status } = review
  if (!isReview(review, { kind: 'TokenReview', apiVersion })) {
    throw new TypeError(`the answer is no TokenReview of ${apiVersion}`)
  }
  const { authenticated = false, error = '', audiences, user } = fields(status, 'status')
  if (typeof authenticated !== 'boolean') throw new TypeError('status.authenticated is neither true nor false')
  if (!authenticated) {
    if (typeof error === 'string' && error !== '') throw new Error(error)
    return undefined
  }
  const identity = userOf(user)
  if (requested === undefined) return identity
  const named = texts(audiences, 'status.audiences')
  const shared = requested.filter(audience => (named.length === 0 ? own : named).includes(audience))
  return shared.length === 0 ? undefined : { ...identity, audiences: shared }
}

const MAX_ERROR_LENGTH = 1000

/** What the webhook says is logged, causes too, and it may quote the token. */
const withoutToken = (message: string, token: string): Error =>
  new Error(message.replaceAll(token, '…').slice(0, MAX_ERROR_LENGTH))

function userOf (user: unknown): UserInfo {
  const { username, uid = '', groups, extra } = fields(user, 'status.user')
  if (typeof username !== 'string' || username === '') throw new TypeError('status.user.username is missing')
  if (typeof uid !== 'string') throw new TypeError('status.user.uid is no text')
  const more = Object.entries(fields(extra ?? {}, 'status.user.extra'))
    .map(([key, values]) => [key, texts(values, 'a value of status.user.extra')] as const)
  return { username, uid, groups: texts(groups, 'status.user.groups'), extra: Object.fromEntries(more) }
}

function fields (value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`${name} is missing or no object`)
  }
  return value as Readonly<Record<string, unknown>>
}

function texts (value: unknown, name: string): string[] {
  const list: unknown = value ?? []
  if (!Array.isArray(list) || !list.every(item => typeof item === 'string')) {
    throw new TypeError(`${name} is no list of texts`)
  }
  return list
}
