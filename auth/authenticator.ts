/** The contract of an authenticator and of the server's chain of authenticators. */
import type { Lifecycle } from './lifecycle.js'
import type { UserInfo } from '../schemas/meta/user-info.js'

/** The parts of a request that an authenticator may read. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values as sent, alternating, for headers that may be repeated. */
  readonly rawHeaders?: readonly string[]
  /** Requested audiences, one of which the token must have; undefined for those of the server. */
  readonly audiences?: readonly string[]
  /** The client certificate, verified or not, if TLS was used. */
  readonly certificate: ClientCertificate | undefined
  /** Adds an annotation to the request's audit event, if any. */
  readonly annotate?: (key: string, value: string) => void
  /** Adds a Warning header to the response. Default ignored. */
  readonly warn?: (text: string) => void
}

export interface ClientCertificate {
  /** True if it chains to --client-ca-file. */
  readonly verified: boolean
  /** True if it chains to --requestheader-client-ca-file and so belongs to an authenticating proxy. */
  readonly verifiedProxy?: boolean
  /** Why verification failed, for the log. */
  readonly problem?: string
  /** Milliseconds since 1970 when the certificate, or one in its chain, expires. */
  readonly until?: number
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The UIDs in its subject, of which it may have one. Default none. */
  readonly uids?: readonly string[]
  /** SHA-256 of its DER, hexadecimal. */
  readonly sha256?: string
}

/** A user, with the audiences of the credentials. */
export interface Authenticated extends UserInfo {
  /** Those of the relevant audiences that the token has; undefined if the method has no audiences. */
  readonly audiences?: readonly string[]
}

/**
 * Returns the user, undefined for credentials of another kind, or throws for invalid ones. Called for each request, so
 * synchronous authenticators should not return a promise.
 */
export interface Authenticator extends Lifecycle {
  readonly name: string
  /**
   * True if it checks the audiences of credentials and returns the valid ones. Others are called only for the audiences
   * of the server.
   */
  readonly knowsAudiences?: boolean
  /** The extra values of its users are this server's, whatever names those have. */
  readonly ownExtra?: boolean
  authenticate: (credentials: Credentials) => Authenticated | undefined | Promise<Authenticated | undefined>
}

/** Credentials of a token that is not the request's own, as in a token review. */
export const tokenCredentials = (token: string, audiences?: readonly string[]): Credentials =>
  ({
    headers: { authorization: `Bearer ${token}` }, certificate: undefined, ...(audiences === undefined
      ? {}
      : { audiences })
  })
