/**
 * Authenticates the tokens of one issuer. Signature, issuer, audience and times are verified with the issuer's public
 * keys; the issuer is not called per token. Results are cached for ten seconds, at most until the token expires.
 */
import type { FastifyBaseLogger } from 'fastify'
import { decodeJwt } from 'jose'
import type { Tunnel } from '../../../clients/egress/tunnel.js'
import type { HttpClientOptions } from '../../../clients/http-client.js'
import type { Material } from '../../../clients/kubeconfig.js'
import type { Authenticator } from '../../../auth/authenticator.js'
import type { Clock } from '../../../event-loop/clock.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'
import { reasonOf } from '../../../storage/errors.js'
import type { Metrics } from '../../shared/metric-series.js'
import { occasionally } from '../../shared/rate-limited.js'
import { outgoingMetrics } from '../../shared/outgoing-metrics.js'
import type { Found } from '../chain.js'
import { TokenCache, type TokenAnswer } from '../token-cache.js'
import { bearerToken } from '../token-file.js'
import type { Claims } from './claims.js'
import { resolveDistributed } from './distributed.js'
import { DocumentFetcher } from './document-fetcher.js'
import { Issuer, issuerNamed } from './issuer.js'

export interface OidcContext {
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  readonly clock: Clock
  /** To servers of the control plane. */
  readonly tunnel?: Tunnel | undefined
}

export interface TokenIssuerOptions {
  readonly url: string
  /** Where its discovery document lies; by default below `url`. */
  readonly discoveryUrl?: string | undefined
  /** A token must be for one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  /** Default the system roots. */
  readonly authority: Material | undefined
  readonly tunnel: Tunnel | undefined
  /** A claim that may be distributed; '' for none. */
  readonly distributedClaim: string
  readonly toUser: (claims: Claims) => UserInfo | Promise<UserInfo>
  /** For tests. */
  readonly client?: Partial<HttpClientOptions> | undefined
  /** Monotonic clock, milliseconds. For tests. */
  readonly now?: (() => number) | undefined
}

export interface TokenIssuer {
  readonly url: string
  /** Synchronous if cached. Rejects if the token is invalid. */
  readonly find: (token: string) => Found | Promise<Found>
  /** Begins discovery. @returns a promise that resolves once it has succeeded; it is repeated until `close` */
  readonly begin: () => Promise<void>
  readonly close: () => Promise<void>
}

const CACHED_MS = 10_000
/** Maximum characters of a token; headers cannot hold more. */
const MAX_TOKEN_LENGTH = 64 * 1024
/** Maximum issuers of distributed claims with cached keys. */
const MAX_ISSUERS = 16

export function tokenIssuer (
  options: TokenIssuerOptions, { log, metrics, clock }: Omit<OidcContext, 'tunnel'>
): TokenIssuer {
  const { url, audiences, algorithms, distributedClaim: claim, toUser } = options
  const fetcher = new DocumentFetcher({
    authority: options.authority,
    client: { tunnel: options.tunnel, observe: outgoingMetrics(metrics).observe, ...options.client }
  })
  const failed = occasionally((error: unknown) => {
    log.warn(`the OpenID Connect issuer cannot be reached: ${reasonOf(error)}`)
  })
  const issuers = new Map<string, Issuer>()
  const issuerOf = (name: string): Issuer => {
    let known = issuers.get(name)
    if (known === undefined) {
      known = new Issuer({
        url: name, fetcher, audiences, algorithms, failed, wall: clock.wall,
        discoveryUrl: name === url ? options.discoveryUrl : undefined,
        ...(options.now === undefined ? {} : { now: options.now })
      })
      const oldest = [...issuers.keys()].find(other => other !== url)
      if (oldest !== undefined && issuers.size >= MAX_ISSUERS) issuers.delete(oldest)
      issuers.set(name, known)
    }
    return known
  }

  const lookup = async (token: string): Promise<TokenAnswer> => {
    const verified = await issuerOf(url).verify(token)
    const claims = claim === ''
      ? verified
      : await resolveDistributed(verified, {
          claim, fetcher, verify: (name, other) => issuerOf(name).verify(other)
        })
    return { found: await toUser(claims), until: (verified.exp ?? 0) * 1000 }
  }
  const cache = new TokenCache({ lookup, known: CACHED_MS, unknown: 0, metrics, clock })
  return {
    url,
    find: token => cache.find(token),
    begin: () => issuerOf(url).begin(),
    close: async () => {
      for (const known of issuers.values()) known.close()
      await fetcher.close()
    }
  }
}

/** A token goes to the issuer that it names. @param issuerOf by the `iss` claim */
export const byIssuer = (issuerOf: (name: unknown) => TokenIssuer | undefined): Authenticator['authenticate'] =>
  ({ headers }) => {
    const token = bearerToken(headers['authorization'])
    return token === undefined ? undefined : issuerOf(issuedBy(token))?.find(token)
  }

/** Returns the issuer that a token claims to be of, unverified, or undefined if the token is not a JWT. */
function issuedBy (token: string): unknown {
  if (token.length > MAX_TOKEN_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  try {
    return issuerNamed(decodeJwt(token).iss)
  } catch {
    return undefined
  }
}
