/**
 * OpenID Connect: ID tokens of one issuer, sent as bearer tokens. Their signature, issuer, audience and times are verified with
 * the keys of the issuer; the server is no client of it and asks it about no token. (Interface: the service Connect.)
 *
 * What is verified is believed for ten seconds without verifying it again, and not longer than the token lasts.
 */
import type { FastifyBaseLogger } from 'fastify'
import { decodeJwt } from 'jose'
import type { HttpClientOptions } from '../../../clients/http-client.js'
import type { Material } from '../../../clients/kubeconfig.js'
import type { Authenticator } from '../../../auth/authenticator.js'
import type { OrchServer } from '../../server.js'
import { reasonOf } from '../../../storage/errors.js'
import { occasionally } from '../../occasionally.js'
import { outgoingMetrics } from '../../outgoing-metrics.js'
import { TokenCache, type TokenAnswer } from '../token-cache.js'
import { bearerToken } from '../token-file.js'
import { userOf, type ClaimOptions } from './claims.js'
import { resolveDistributed } from './distributed.js'
import { Issuer } from './issuer.js'
import { Outside } from './outside.js'

export interface OidcOptions extends ClaimOptions {
  /** `--oidc-issuer-url` */
  readonly issuer: string
  /** `--oidc-client-id` */
  readonly clientId: string
  /** `--oidc-signing-algs`. Default RS256. */
  readonly algorithms?: readonly string[]
  /** `--oidc-ca-file`. Default the roots of the platform. */
  readonly authority?: Material
  /** For tests. */
  readonly client?: Partial<HttpClientOptions>
  /** Milliseconds on a clock that never goes back. For tests. */
  readonly now?: () => number
}

export interface OidcContext {
  readonly log: FastifyBaseLogger
  readonly metrics: OrchServer['metrics']
}

const CACHED_MS = 10_000
/** Characters; more fit in no header. */
const MOST_TOKEN = 64 * 1024
/** Issuers of distributed claims whose keys are kept. */
const MOST_ISSUERS = 16

export function oidcAuthenticator (options: OidcOptions, { log, metrics }: OidcContext): Authenticator {
  const { issuer: url, clientId: audience, algorithms = ['RS256'], groupsClaim = '' } = options
  const outside = new Outside({ authority: options.authority, client: { observe: outgoingMetrics(metrics).observe, ...options.client } })
  const failed = occasionally((error: unknown) => { log.warn(`the OpenID Connect issuer cannot be asked: ${reasonOf(error)}`) })
  const issuers = new Map<string, Issuer>()
  const issuerOf = (name: string): Issuer => {
    let found = issuers.get(name)
    if (found === undefined) {
      found = new Issuer({ url: name, outside, audience, algorithms, failed, ...(options.now === undefined ? {} : { now: options.now }) })
      const oldest = [...issuers.keys()].find(known => known !== url)
      if (oldest !== undefined && issuers.size >= MOST_ISSUERS) issuers.delete(oldest)
      issuers.set(name, found)
    }
    return found
  }

  const lookup = async (token: string): Promise<TokenAnswer> => {
    const verified = await issuerOf(url).verify(token)
    const claims = groupsClaim === '' ? verified : await resolveDistributed(verified, { claim: groupsClaim, outside, verify: (name, other) => issuerOf(name).verify(other) })
    return { found: userOf(claims, url, options), until: (verified.exp ?? 0) * 1000 }
  }
  const cache = new TokenCache({ lookup, known: CACHED_MS, unknown: 0, metrics })

  return {
    name: 'oidc',
    authenticate: ({ headers }) => {
      const token = bearerToken(headers['authorization'])
      return token === undefined || issuedBy(token) !== url ? undefined : cache.find(token)
    },
    start: async () => { issuerOf(url).begin() },
    close: async () => {
      for (const one of issuers.values()) one.close()
      await outside.close()
    }
  }
}

/** Who a token says it is of, which nobody has verified. Undefined for what is no JWT. */
function issuedBy (token: string): unknown {
  if (token.length > MOST_TOKEN || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
