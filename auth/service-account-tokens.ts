/** Service account tokens of the server, besides authentication; `tokens` of `fastify.orchAuthentication`. */

export interface NamedObject { readonly name: string, readonly uid: string }

/** The claims of a token; times in seconds. */
export interface TokenClaims {
  readonly namespace: string
  readonly account: NamedObject
  readonly audiences: readonly string[]
  /** Since 1 January 1970. */
  readonly issuedAt: number
  readonly expirationSeconds: number
  /** Seconds after which uses of the token get a warning. */
  readonly warnAfterSeconds?: number
  /** The object that the token is bound to; at most one. */
  readonly pod?: NamedObject
  readonly secret?: NamedObject
  /** The node that the token is bound to, or the one of the pod; that may be gone, and then has no UID. */
  readonly node?: NamedObject
  /** A UUID, by which audit events name the token. Default none. */
  readonly id?: string | undefined
}

/** Claims of a token that is valid while its Secret exists. */
export interface SecretTokenClaims {
  readonly namespace: string, readonly account: NamedObject, readonly secretName: string
}

export interface TokenSigner {
  /** Signs a token. */
  readonly issue: (claims: TokenClaims) => Promise<string>
  /** Signs a token for a Secret of type orch.io/service-account-token. */
  readonly issueForSecret: (claims: SecretTokenClaims) => Promise<string>
}

/** A public key in the form of RFC 7517. */
export type JsonWebKey = Readonly<Record<string, unknown>> & { readonly kid: string, readonly alg: string }

export interface ServiceAccountTokens {
  /** Audiences of this server, `--api-audiences`. */
  readonly audiences: readonly string[]
  /** Issuer of new tokens; the first `--service-account-issuer`. */
  readonly issuer: string
  /** Undefined without a signing key. */
  readonly signer: TokenSigner | undefined
  /** `--service-account-max-token-expiration`; 0 for no limit. */
  readonly maxExpirationSeconds: number
  /** `--service-account-extend-token-expiration` */
  readonly extendExpiration: boolean
  /** PEM of the CA with which clients verify this server, for token Secrets; undefined if unknown. */
  readonly certificateAuthority: string | undefined
  /** Longest extended lifetime. Default a year. */
  readonly maxExtendedSeconds?: number | undefined
  /** Public keys that verify tokens; another list when they change. */
  readonly keys: () => readonly JsonWebKey[]
  /** Seconds after which the keys may be others. Default they stay. */
  readonly keysMaxAge?: (() => number) | undefined
  /** `--service-account-jwks-uri` */
  readonly keysUri: string | undefined
}
