/** What is known of a request before anybody decides about it; plain facts, no HTTP library. */

export interface UserInfo {
  readonly username: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'proxy'

export interface RequestInfo {
  /** The path below the prefix the server is mounted at, decoded, without the query. */
  readonly path: string
  /** True for paths below /api/VERSION and /apis/GROUP/VERSION that name a resource type. */
  readonly isResourceRequest: boolean
  /** For resource requests a `Verb`; else the HTTP method in lower case. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

/** The verbs that change nothing. */
export const READ_ONLY: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])

/** What an authorizer is asked; the fields of a SubjectAccessReview, resolved. */
export interface Attributes {
  readonly user: UserInfo
  readonly info: RequestInfo
}

export type Decision = 'Allow' | 'Deny' | 'NoOpinion'

/** Asked in order; the first Allow or Deny ends it; no Allow at all is a refusal. May not throw for a refusal. */
export interface Authorizer {
  readonly name: string
  authorize: (attributes: Attributes) => { decision: Decision, reason?: string } | Promise<{ decision: Decision, reason?: string }>
}

/** What an authenticator may look at. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The verified or unverified client certificate, where TLS was used. */
  readonly certificate: ClientCertificate | undefined
}

export interface ClientCertificate {
  /** True when it chains to --client-ca-file. */
  readonly verified: boolean
  /** Why it does not, for the log. */
  readonly problem?: string
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Returns the user, undefined when the credentials are not of its kind, or throws when they are and are bad. */
export interface Authenticator {
  readonly name: string
  authenticate: (credentials: Credentials) => UserInfo | undefined | Promise<UserInfo | undefined>
}
