/** How an authorizer keeps its objects in memory. Implemented by `controllers/follow.ts` with informers. */
import type { ApiObject } from '../schemas/meta/api-object.js'

export interface ObjectName { readonly namespace: string, readonly name: string }

export interface FollowedResource {
  readonly group: string
  readonly plural: string
  /** Called for each object at start-up and after each change. */
  readonly changed: (object: ApiObject) => void
  readonly deleted: (name: ObjectName) => void
  /** Nothing is followed where it is not served. */
  readonly optional?: true
}

export interface Followed {
  /** True once the handlers have been called for every existing object. */
  readonly loaded: boolean
  /** Calls the handlers for all changes in the caches; synchronous. */
  catchUp: () => void
  close: () => void
}

/**
 * Follows resources until closed; retries while the store is unavailable.
 * @param what describes the resources in the log
 * @param acknowledged whether writes wait for the handlers before they are acknowledged
 * @throws Error if a resource is not served that is not optional
 */
export type Follow = (what: string, resources: readonly FollowedResource[], acknowledged?: boolean) => Followed
