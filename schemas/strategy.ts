/** What a resource does beyond its declaration. */
import type { Gates } from './gates.js'
import type { Report } from './language/types.js'
import type { ApiObject } from './meta/api-object.js'
import type { UserInfo } from './meta/user-info.js'
import type { Steps } from './steps.js'

/**
 * Rules of creation that upstream skips when it updates some types: generateName form, finalizer domains, field
 * validation.
 */
export type UpdateRule = 'generateName' | 'finalizers' | 'fields'

/**
 * Behaviour of a resource beyond its declaration: preparation before validation and storage, and what delays removal.
 * All of it runs inside the read-modify-write loop and must be idempotent.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /**
   * Sets server-decided fields of a new object, where needed from its creator; clears fields that clients may not set.
   * Its creationTimestamp is the current time.
   */
  readonly prepareForCreate?: (
    object: T, user: UserInfo | undefined, gates: Gates, warn?: (text: string) => void
  ) => void
  /**
   * Drops content of disabled features unless `old` uses it, besides fields with a `gate`; `old` is undefined on
   * create. Runs before preparation.
   */
  readonly dropGated?: (object: T, old: T | undefined, gates: Gates) => void
  /**
   * Drops fields that the emulated release does not have, where other versions have them and the stored one keeps them
   * in annotations. @returns their paths, for a client that asked to hear of unknown fields
   */
  readonly dropUnknown?: (object: T, old: T | undefined, gates: Gates) => string[]
  /** Warnings about what `dropGated` and fields with a `gate` will drop, where an author must know. */
  readonly notKept?: (object: T, old: T | undefined, gates: Gates) => readonly string[]
  /**
   * Computed defaults that a release after 1.24 brought, besides those that a `gate` gives. They are filled in after
   * all others, in what clients send and in what an earlier release has stored.
   */
  readonly laterDefaults?: { readonly since: string, readonly fill: (object: T, gates: Gates) => void }
  /** A create keeps the status that the client sent. Default: status is reset. */
  readonly statusOfNew?: true
  /** Brings a valid object into its stored form. */
  readonly canonicalize?: (object: T, gates: Gates) => void
  /** Warnings for the writer of a valid object; `old` is undefined on create. Not called for subresources. */
  readonly warnings?: (object: T, old: T | undefined, gates?: Gates) => readonly string[]
  /** Warning on a delete that leaves propagation to the type's default. */
  readonly dependentsWarning?: string
  /**
   * Restores from `old` what an update of this subresource ('' for the object itself) may not change; `changes` of
   * subresources are restored already. `now` in milliseconds since 1970.
   */
  readonly prepareForUpdate?: (object: T, old: T, subresource: string, gates: Gates, now: number) => void
  /** Runs after field ownership is computed, so its changes get no new owner. */
  readonly settle?: (object: T, old: T) => void
  /** Default propagation: dependents are orphaned, or the type has none. Default: dependents are garbage-collected. */
  readonly dependents?: 'orphaned' | 'none'
  /** Grace period in seconds of a delete; `requested` is the request's own. 0 deletes at once, and is the default. */
  readonly gracePeriod?: (object: T, requested: number | undefined) => number
  /** The reason why DELETE of this name is refused, if it is; deletecollection deletes the object all the same. */
  readonly undeletable?: (name: string) => string | undefined
  /** Marks an object as terminating, besides its deletionTimestamp, which is set. */
  readonly beginDelete?: (object: T) => void
  /** True while something besides metadata.finalizers keeps a terminating object. */
  readonly blocksRemoval?: (object: T) => boolean
}

/** Prepares and validates objects that clients send in one version of a type. */
export interface VersionRules<T extends ApiObject = ApiObject> {
  /** Runs before the strategy prepares the object; `old` is undefined on create. */
  readonly prepare?: (object: T, old: T | undefined) => void
  readonly create?: (object: T, report: Report) => void
  readonly update?: (object: T, old: T, report: Report, subresource: string) => void
  /** Further rules, in steps because they may take long; `old` is undefined on create. */
  readonly inSteps?: (
    object: T, old: T | undefined, report: Report, subresource: string, gates: Gates
  ) => Steps<void> | undefined
}
