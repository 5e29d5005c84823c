/** What a server does with tokens of service accounts beside accepting them; `fastify.orch.serviceAccountTokens`. */

export interface NamedObject { readonly name: string, readonly uid: string }

/** What a token is to say. Times in seconds. */
export interface TokenClaims {
  readonly namespace: string
  readonly account: NamedObject
  readonly audiences: readonly string[]
  /** Since 1970. */
  readonly issuedAt: number
  readonly expirationSeconds: number
  /** After how long its use is warned of. */
  readonly warnAfterSeconds?: number
  /** The object that it ends with; at most one. */
  readonly pod?: NamedObject
  readonly secret?: NamedObject
}

/** Of one that lasts as long as the Secret it is kept in. */
export interface SecretTokenClaims { readonly namespace: string, readonly account: NamedObject, readonly secretName: string }

export interface TokenSigner {
  /** Makes a token. */
  readonly issue: (claims: TokenClaims) => Promise<string>
  /** Makes a token for a Secret of type orch.io/service-account-token. */
  readonly issueForSecret: (claims: SecretTokenClaims) => Promise<string>
}

/** A key as others are told of it, RFC 7517. */
export type JsonWebKey = Readonly<Record<string, unknown>> & { readonly kid: string, readonly alg: string }

export interface ServiceAccountTokens {
  /** Those that this server is meant by, `--api-audiences`. */
  readonly audiences: readonly string[]
  /** Of new tokens; the first of `--service-account-issuer`. */
  readonly issuer: string
  /** Undefined where the server has no key to sign with. */
  readonly signer: TokenSigner | undefined
  /** `--service-account-max-token-expiration`; 0 is no limit. */
  readonly maxExpirationSeconds: number
  /** `--service-account-extend-token-expiration` */
  readonly extendExpiration: boolean
  /** PEM of the authority by which clients verify this server, for Secrets with tokens; where one is known. */
  readonly certificateAuthority: string | undefined
  /** Public keys that tokens are verified by. */
  readonly keys: readonly JsonWebKey[]
  /** `--service-account-jwks-uri` */
  readonly keysUri: string | undefined
}
