/**
 * OpenID Connect: ID tokens of one issuer as bearer tokens. Signature, issuer, audience and times are verified with the
 * issuer's public keys; the issuer is not called per token. (Interface: the service Connect.) Results are cached for
 * ten seconds, at most until the token expires.
 */
import type { FastifyBaseLogger } from 'fastify'
import { decodeJwt } from 'jose'
import type { Tunnel } from '../../../clients/egress/tunnel.js'
import type { HttpClientOptions } from '../../../clients/http-client.js'
import type { Material } from '../../../clients/kubeconfig.js'
import type { Authenticator } from '../../../auth/authenticator.js'
import type { Clock } from '../../../event-loop/clock.js'
import type { Metrics } from '../../shared/metric-series.js'
import { reasonOf } from '../../../storage/errors.js'
import { occasionally } from '../../shared/rate-limited.js'
import { outgoingMetrics } from '../../shared/outgoing-metrics.js'
import { TokenCache, type TokenAnswer } from '../token-cache.js'
import { bearerToken } from '../token-file.js'
import { userOf, type ClaimOptions } from './claims.js'
import { resolveDistributed } from './distributed.js'
import { Issuer } from './issuer.js'
import { DocumentFetcher } from './document-fetcher.js'

export interface OidcOptions extends ClaimOptions {
  /** `--oidc-issuer-url` */
  readonly issuer: string
  /** `--oidc-client-id` */
  readonly clientId: string
  /** `--oidc-signing-algs`. Default RS256. */
  readonly algorithms?: readonly string[]
  /** `--oidc-ca-file`. Default the system roots. */
  readonly authority?: Material
  /** For tests. */
  readonly client?: Partial<HttpClientOptions>
  /** Monotonic clock, milliseconds. For tests. */
  readonly now?: () => number
}

export interface OidcContext {
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  readonly clock: Clock
  /** To servers of the control plane. */
  readonly tunnel?: Tunnel | undefined
}

const CACHED_MS = 10_000
/** Maximum characters of a token; headers cannot hold more. */
const MAX_TOKEN_LENGTH = 64 * 1024
/** Maximum issuers of distributed claims with cached keys. */
const MAX_ISSUERS = 16

export function oidcAuthenticator (options: OidcOptions, { log, metrics, clock, tunnel }: OidcContext): Authenticator {
  const { issuer: url, clientId: audience, algorithms = ['RS256'], groupsClaim = '' } = options
  const fetcher = new DocumentFetcher({
    authority: options.authority, client: { tunnel, observe: outgoingMetrics(metrics).observe, ...options.client }
  })
  const failed = occasionally((error: unknown) => {
    log.warn(`the OpenID Connect issuer cannot be reached: ${reasonOf(error)}`)
  })
  const issuers = new Map<string, Issuer>()
  const issuerOf = (name: string): Issuer => {
    let found = issuers.get(name)
    if (found === undefined) {
      found = new Issuer({
        url: name, fetcher, audience, algorithms, failed, wall: clock.wall,
        ...(options.now === undefined ? {} : { now: options.now })
      })
      const oldest = [...issuers.keys()].find(known => known !== url)
      if (oldest !== undefined && issuers.size >= MAX_ISSUERS) issuers.delete(oldest)
      issuers.set(name, found)
    }
    return found
  }

  const lookup = async (token: string): Promise<TokenAnswer> => {
    const verified = await issuerOf(url).verify(token)
    const claims = groupsClaim === ''
      ? verified
      : await resolveDistributed(verified, {
        claim: groupsClaim, fetcher, verify: (name, other) => issuerOf(name).verify(other)
      })
    return { found: userOf(claims, url, options), until: (verified.exp ?? 0) * 1000 }
  }
  const cache = new TokenCache({ lookup, known: CACHED_MS, unknown: 0, metrics, clock })

  return {
    name: 'oidc',
    authenticate: ({ headers }) => {
      const token = bearerToken(headers['authorization'])
      return token === undefined || issuedBy(token) !== url ? undefined : cache.find(token)
    },
    start: async () => { issuerOf(url).begin() },
    close: async () => {
      for (const known of issuers.values()) known.close()
      await fetcher.close()
    }
  }
}

/** Returns the unverified `iss` claim, or undefined if the token is not a JWT. */
function issuedBy (token: string): unknown {
  if (token.length > MAX_TOKEN_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
