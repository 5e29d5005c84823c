/** How an authorizer keeps the objects it decides by in memory. `controllers/follow.ts` fulfils it with informers. */
import type { ApiObject } from '../schemas/index.js'

export interface ObjectName { readonly namespace: string, readonly name: string }

export interface FollowedResource {
  readonly group: string
  readonly plural: string
  /** Called for each object at the start, and again whenever one has changed. */
  readonly changed: (object: ApiObject) => void
  readonly deleted: (name: ObjectName) => void
}

export interface Followed {
  /** True once the handlers have been called for every object there was. */
  readonly loaded: boolean
  /** Calls the handlers for all changes known to the caches; synchronous. */
  catchUp: () => void
  close: () => void
}

/**
 * Follows resources until it is closed; a store that is away is retried for as long as it takes.
 * @param what the resources in words, for the log
 * @param acknowledged whether a write to them is acknowledged only when the handlers have been called for it
 * @throws Error when a resource is not served
 */
export type Follow = (what: string, resources: readonly FollowedResource[], acknowledged?: boolean) => Followed
