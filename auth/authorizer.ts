/** May they: the contract of an authorizer, and of the chain of them that a server has. */
import type { Lifecycle } from './lifecycle.js'
import type { RequestInfo } from './request-info.js'
import type { UserInfo } from '../schemas/meta/user-info.js'

/** What an authorizer is asked; the fields of a SubjectAccessReview, resolved. */
export interface Attributes {
  readonly user: UserInfo
  readonly info: RequestInfo
}

export type Decision = 'Allow' | 'Deny' | 'NoOpinion'

export interface Ruling {
  readonly decision: Decision
  /** For the one who asks. */
  readonly reason?: string
  /** Why it may be wrong: something could not be looked up. Beside NoOpinion others are still asked. */
  readonly evaluationError?: unknown
}

/** What somebody may do in a namespace, as an authorizer can list it. */
export interface Rules {
  readonly resourceRules: ReadonlyArray<{ readonly verbs: readonly string[], readonly apiGroups: readonly string[], readonly resources: readonly string[], readonly resourceNames?: readonly string[] }>
  readonly nonResourceRules: ReadonlyArray<{ readonly verbs: readonly string[], readonly nonResourceURLs: readonly string[] }>
  /** Whether there may be more than is listed. */
  readonly incomplete: boolean
  /** What could not be looked up. */
  readonly evaluationError?: unknown
}

/**
 * Asked in order; the first Allow or Deny ends it; no Allow at all is a refusal. May not throw for a refusal: a throw ends
 * the question, as it may stand for a Deny. One that can answer at once returns no promise.
 */
export interface Authorizer extends Lifecycle {
  readonly name: string
  authorize: (attributes: Attributes) => Ruling | Promise<Ruling>
  /** For people who ask what they may do; decides nothing. Without it what is listed counts as incomplete. */
  rules?: (user: UserInfo, namespace: string) => Rules | Promise<Rules>
  /** In words for whoever keeps the rules: what it goes by, or what it has looked at and how near that comes. Decides nothing. */
  explain?: (attributes: Attributes) => string
}
