/** Builds the service account authenticator and the token issuer from the options. */
import type { JsonWebKey, ServiceAccountTokens, TokenSigner } from '../../../auth/service-account-tokens.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import type { Metrics } from '../../shared/metric-series.js'
import type { Outside } from '../../shared/outside.js'
import { DEFAULT_GATES, type Gates } from '../../../schemas/gates.js'
import { ServiceAccountAuthenticator } from './authenticator.js'
import type { KeptTokens } from './kept-tokens.js'
import { payloadOf, secretPayloadOf } from './claims.js'
import { makeSigningKey, parseSigningKey, parseTokenKeys, publicJwk, type TokenKey } from './keys.js'

export interface ServiceAccountOptions {
  /**
   * Accepted issuers; the first one issues. `--service-account-issuer`. Default
   * `https://orch.default.svc.cluster.local`.
   */
  readonly issuers?: readonly string[]
  /** PEM of a private key. Default none if `verificationKeys` are given, otherwise a key generated at start-up. */
  readonly signingKey?: string
  /** Path of the socket of a service that signs instead, `--service-account-signing-endpoint`; excludes keys. */
  readonly signingSocket?: string
  /** PEM, `--service-account-key-file`. The signing key's public key is always included. */
  readonly verificationKeys?: readonly string[]
  /** Requires tokens stored in Secrets to exist there, `--service-account-lookup`. Default true. */
  readonly lookup?: boolean
  /** Maximum lifetime of requested tokens; 0, the default, means unlimited. */
  readonly maxExpirationSeconds?: number
  /** Extends tokens injected into pods to one year. Default true. */
  readonly extendExpiration?: boolean
  /** `--service-account-jwks-uri`. Default this server's. */
  readonly keysUri?: string
  /** PEM of the CA bundle by which clients verify this server, stored in token Secrets. Default none. */
  readonly certificateAuthority?: string
}

const OWN_NAMES: Outside['tokens'] = { written: own => own, read: sent => sent }

const DEFAULT_ISSUER = 'https://orch.default.svc.cluster.local'

export interface ServiceAccountSetup extends ServiceAccountOptions {
  /** Audiences of this server. Default its issuers. */
  readonly audiences: readonly string[] | undefined
  readonly resources: ResourceRegistry
  /** What tokens say, as others read it, and under own names. Default the same. */
  readonly names?: Outside['tokens'] | undefined
  readonly metrics: Pick<Metrics, 'counter'>
  readonly log: (message: string, error: unknown) => void
  /** Notes uses of tokens that are kept in Secrets. Default not. */
  readonly kept?: KeptTokens | undefined
  /** Default those of the interface's release. */
  readonly gates?: Pick<Gates, 'enabled'>
  /** Milliseconds since 1970. For tests. */
  readonly now?: () => number
}

export interface ServiceAccounts {
  readonly authenticator: ServiceAccountAuthenticator, readonly tokens: ServiceAccountTokens
  readonly close: () => void
}

/** Rejects with an Error for an invalid key, or a service that cannot be used. */
export async function serviceAccounts (setup: ServiceAccountSetup): Promise<ServiceAccounts> {
  const {
    issuers = [DEFAULT_ISSUER], lookup = true, extendExpiration = true, resources, metrics, now = Date.now,
    names = OWN_NAMES, gates = DEFAULT_GATES, kept
  } = setup
  const [issuer = DEFAULT_ISSUER] = issuers
  const audiences = setup.audiences ?? [...new Set([issuer, ...issuers])]
  // Load in the background: slow, and not needed before the first token.
  const jws = import('./jws.js')
  jws.catch(() => {}) // reported to callers that await it
  const { sign, ...keys } = await keysOf(setup, jws)
  return {
    authenticator: new ServiceAccountAuthenticator({
      issuers: new Set([issuer, ...issuers]), audiences, keys: keys.all, refresh: keys.refresh, lookup, resources, now,
      kept, ownClaims: names.read,
      identifies: gates.enabled('ServiceAccountTokenJTI'),
      verify: async (token, key) => { await (await jws).verify(token, key) },
      counted: countersOf(metrics)
    }),
    tokens: {
      audiences, issuer, extendExpiration, maxExpirationSeconds: keys.maxExpirationSeconds,
      maxExtendedSeconds: keys.maxExtendedSeconds,
      signer: sign === undefined ? undefined : signerOf(sign, issuer, names.written),
      certificateAuthority: setup.certificateAuthority,
      keys: keys.published, keysMaxAge: keys.maxAge,
      keysUri: setup.keysUri
    },
    close: keys.close ?? (() => {})
  }
}

type Sign = (payload: object) => Promise<string>

/** Where keys are: in this process, or in a service. */
interface Keys {
  /** Undefined where nothing can be signed. */
  readonly sign: Sign | undefined
  readonly all: () => readonly TokenKey[]
  readonly refresh?: () => Promise<void>
  readonly published: () => readonly JsonWebKey[]
  readonly maxAge?: () => number
  readonly maxExpirationSeconds: number
  readonly maxExtendedSeconds?: number
  readonly close?: () => void
}

async function keysOf (setup: ServiceAccountSetup, jws: Promise<typeof import('./jws.js')>): Promise<Keys> {
  const { signingSocket, verificationKeys = [], maxExpirationSeconds = 0 } = setup
  if (signingSocket !== undefined) return await externalKeys(signingSocket, setup)
  const key = setup.signingKey === undefined
    ? setup.verificationKeys === undefined ? makeSigningKey() : undefined
    : parseSigningKey(setup.signingKey)
  const byId = new Map<string, TokenKey>()
  for (const tokenKey of [...(key === undefined ? [] : [key]), ...verificationKeys.flatMap(parseTokenKeys)]) {
    if (!byId.has(tokenKey.id)) byId.set(tokenKey.id, tokenKey)
  }
  const all = [...byId.values()]
  const published = all.map(publicJwk)
  return {
    sign: key === undefined ? undefined : async payload => await (await jws).sign(payload, key),
    all: () => all, published: () => published, maxExpirationSeconds
  }
}

async function externalKeys (
  path: string, { maxExpirationSeconds = 0, log }: Pick<ServiceAccountSetup, 'maxExpirationSeconds' | 'log'>
): Promise<Keys> {
  const { externalSigner } = await import('./external-signer.js')
  const service = await externalSigner({ path, log })
  const { maxExpirationSeconds: longest } = service
  if (maxExpirationSeconds > longest) {
    service.close()
    throw new Error(`--service-account-max-token-expiration is ${maxExpirationSeconds} s, but the service at ` +
      `--service-account-signing-endpoint signs tokens for ${longest} s at most; give that, or leave it out`)
  }
  let last: { readonly of: readonly TokenKey[], readonly published: readonly JsonWebKey[] } | undefined
  return {
    sign: service.sign, all: service.keys, refresh: service.refresh, maxAge: service.keysMaxAge,
    published: () => {
      const keys = service.keys()
      if (last?.of !== keys) last = { of: keys, published: keys.filter(({ published }) => published).map(publicJwk) }
      return last.published
    },
    maxExpirationSeconds: maxExpirationSeconds === 0 ? longest : maxExpirationSeconds,
    maxExtendedSeconds: longest,
    close: service.close
  }
}

function countersOf (metrics: Pick<Metrics, 'counter'>): (kind: 'legacy' | 'stale' | 'valid') => void {
  const counters = {
    legacy: metrics.counter(
      'serviceaccount_legacy_tokens_total', 'Uses of ServiceAccount tokens without an audience and an expiration.'
    )
      .with(),
    stale: metrics.counter(
      'serviceaccount_stale_tokens_total',
      'Uses of ServiceAccount tokens after the time at which clients should have renewed them.'
    )
      .with(),
    valid: metrics.counter(
      'serviceaccount_valid_tokens_total',
      'Uses of ServiceAccount tokens with an extended expiration before the time at which clients should renew them.'
    )
      .with()
  }
  return kind => { counters[kind].add() }
}

const signerOf = (
  sign: Sign, issuer: string, named: (claims: Record<string, unknown>) => object
): TokenSigner => ({
  issue: async claims => await sign(named(payloadOf(issuer, claims))),
  issueForSecret: async claims => await sign(named(secretPayloadOf(claims)))
})
