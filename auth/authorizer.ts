/** The contract of an authorizer and of the server's chain of authorizers. */
import type { Lifecycle } from './lifecycle.js'
import type { RequestInfo } from './request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'

/** The attributes of a request; the resolved fields of a SubjectAccessReview. */
export interface Attributes {
  readonly user: UserInfo
  readonly info: RequestInfo
}

export type Decision = 'Allow' | 'Deny' | 'NoOpinion'

export interface Ruling {
  readonly decision: Decision
  /** For the client. */
  readonly reason?: string
  /**
   * Why the decision may be wrong: a lookup failed. With NoOpinion the chain continues. A StatusError answers a request
   * that no other authorizer decides, anything else answers it with 500.
   */
  readonly evaluationError?: unknown
}

/** The permissions of a user in a namespace, as far as an authorizer can list them. */
export interface Rules {
  readonly resourceRules: ReadonlyArray<{
    readonly verbs: readonly string[], readonly apiGroups: readonly string[], readonly resources: readonly string[],
    readonly resourceNames?: readonly string[]
  }>
  readonly nonResourceRules: ReadonlyArray<{
    readonly verbs: readonly string[], readonly nonResourceURLs: readonly string[]
  }>
  /** Whether there may be more permissions. */
  readonly incomplete: boolean
  /** The failed lookup. */
  readonly evaluationError?: unknown
}

/**
 * Called in order; the first Allow or Deny decides, and without an Allow the request is refused. Must not throw to
 * refuse: an error ends the chain, because the authorizer might have denied. Synchronous authorizers should not return
 * a promise.
 */
export interface Authorizer extends Lifecycle {
  readonly name: string
  authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
  /** Lists permissions for users; decides nothing. Without it the list counts as incomplete. */
  rules?: (user: UserInfo, namespace: string) => Rules | Promise<Rules>
  /** Explains for administrators which rules applied, or came closest. Decides nothing. */
  explain?: (attributes: Attributes) => string
  /**
   * What would allow a refused request, for the 403 of users who may know it; '' for others. Decides nothing. Costs
   * little, as refusals may come in floods.
   * @param authorize asks all authorizers, as another may deny what this one allows; never rejects
   */
  advise?: (attributes: Attributes, authorize: Authorizer['authorize']) => string | Promise<string>
}
