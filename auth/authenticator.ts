/** Who asks: the contract of an authenticator, and of the chain of them that a server has. */
import type { Lifecycle } from './lifecycle.js'
import type { UserInfo } from '../schemas/meta/user-info.js'

/** What an authenticator may look at. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values as they were sent, in turn; for headers that may come several times. */
  readonly rawHeaders?: readonly string[]
  /** Audiences asked for, of which a token must be for one; undefined: those of the server. */
  readonly audiences?: readonly string[]
  /** The verified or unverified client certificate, where TLS was used. */
  readonly certificate: ClientCertificate | undefined
  /** Adds to the audit event of the request, where there is one. */
  readonly annotate?: (key: string, value: string) => void
}

export interface ClientCertificate {
  /** True when it chains to --client-ca-file. */
  readonly verified: boolean
  /** True when it chains to --requestheader-client-ca-file: it is that of a proxy, which speaks for others. */
  readonly verifiedProxy?: boolean
  /** Why it does not, for the log. */
  readonly problem?: string
  /** Milliseconds since 1970 when it, or one that vouches for it, expires. */
  readonly until?: number
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** A user, and what the credentials are good for. */
export interface Authenticated extends UserInfo {
  /** Of the audiences that count, those the token is for; undefined where the method knows of none. */
  readonly audiences?: readonly string[]
}

/**
 * Returns the user, undefined when the credentials are not of its kind, or throws when they are and are bad. Asked with each
 * request: one that can answer at once returns no promise.
 */
export interface Authenticator extends Lifecycle {
  readonly name: string
  /**
   * True when it looks at the audiences of credentials and says in its answer which of them count. Any other is asked only
   * when those of the server are meant.
   */
  readonly knowsAudiences?: boolean
  authenticate: (credentials: Credentials) => Authenticated | undefined | Promise<Authenticated | undefined>
}

/** Those of a token that did not come with the request: a token review, a back end that was given one. */
export const tokenCredentials = (token: string, audiences?: readonly string[]): Credentials =>
  ({ headers: { authorization: `Bearer ${token}` }, certificate: undefined, ...(audiences === undefined ? {} : { audiences }) })
