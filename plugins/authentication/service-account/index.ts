/** Builds the service account authenticator and the token issuer from the options. */
import type { ServiceAccountTokens, TokenSigner } from '../../../auth/service-account-tokens.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import type { Metrics } from '../../shared/metric-series.js'
import { DEFAULT_GATES, type Gates } from '../../../schemas/gates.js'
import { OWN_NAMES, type Naming } from '../../../schemas/naming.js'
import { ServiceAccountAuthenticator } from './authenticator.js'
import type { KeptTokens } from './kept-tokens.js'
import { payloadOf, secretPayloadOf } from './claims.js'
import { makeSigningKey, parseSigningKey, parseTokenKeys, publicJwk, type SigningKey, type TokenKey } from './keys.js'

export interface ServiceAccountOptions {
  /**
   * Accepted issuers; the first one issues. `--service-account-issuer`. Default
   * `https://orch.default.svc.cluster.local`.
   */
  readonly issuers?: readonly string[]
  /** PEM of a private key. Default none if `verificationKeys` are given, otherwise a key generated at start-up. */
  readonly signingKey?: string
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

const DEFAULT_ISSUER = 'https://orch.default.svc.cluster.local'

export interface ServiceAccountSetup extends ServiceAccountOptions {
  /** Audiences of this server. Default its issuers. */
  readonly audiences: readonly string[] | undefined
  readonly resources: ResourceRegistry
  /** Of issued tokens. Both kinds are taken. Default own names. */
  readonly naming?: Naming | undefined
  readonly metrics: Pick<Metrics, 'counter'>
  /** Notes uses of tokens that are kept in Secrets. Default not. */
  readonly kept?: KeptTokens | undefined
  /** Default those of the interface's release. */
  readonly gates?: Pick<Gates, 'enabled'>
  /** Milliseconds since 1970. For tests. */
  readonly now?: () => number
}

export interface ServiceAccounts {
  readonly authenticator: ServiceAccountAuthenticator, readonly tokens: ServiceAccountTokens
}

/** @throws Error for an invalid key */
export function serviceAccounts (setup: ServiceAccountSetup): ServiceAccounts {
  const {
    issuers = [DEFAULT_ISSUER], verificationKeys, lookup = true, maxExpirationSeconds = 0, extendExpiration = true,
    resources, metrics, now = Date.now, naming = OWN_NAMES, gates = DEFAULT_GATES, kept
  } = setup
  const [issuer = DEFAULT_ISSUER] = issuers
  const audiences = setup.audiences ?? [...new Set([issuer, ...issuers])]
  const pem = setup.signingKey ?? (verificationKeys === undefined ? makeSigningKey() : undefined)
  const signingKey = pem === undefined ? undefined : parseSigningKey(pem)
  const byId = new Map<string, TokenKey>()
  for (const key of [
    ...(signingKey === undefined ? [] : [signingKey]), ...(verificationKeys ?? []).flatMap(parseTokenKeys)
  ]) {
    if (!byId.has(key.id)) byId.set(key.id, key)
  }
  const keys = [...byId.values()]
  // Load in the background: slow, and not needed before the first token.
  const jws = import('./jws.js')
  jws.catch(() => {}) // reported to callers that await it
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
  return {
    authenticator: new ServiceAccountAuthenticator({
      issuers: new Set([issuer, ...issuers]), audiences, keys, lookup, resources, now, kept,
      ownClaims: naming.ownClaims,
      identifies: gates.enabled('ServiceAccountTokenJTI'),
      verify: async (token, key) => { await (await jws).verify(token, key) },
      counted: kind => { counters[kind].add() }
    }),
    tokens: {
      audiences, issuer, maxExpirationSeconds, extendExpiration,
      signer: signingKey === undefined ? undefined : signerOf(signingKey, issuer, jws, naming.claims),
      certificateAuthority: setup.certificateAuthority,
      keys: keys.map(publicJwk),
      keysUri: setup.keysUri
    }
  }
}

const signerOf = (
  key: SigningKey, issuer: string, jws: Promise<typeof import('./jws.js')>,
  named: (claims: Record<string, unknown>) => object
): TokenSigner => ({
  issue: async claims => await (await jws).sign(named(payloadOf(issuer, claims)), key),
  issueForSecret: async claims => await (await jws).sign(named(secretPayloadOf(claims)), key)
})
