/**
 * Allocates what only one object may have, such as the address of a service. Allocation precedes validation, so its
 * errors are reported first and alone, as upstream. Values are released when the write fails or the object no longer
 * has them. If the process ends in between, a value stays allocated without an owner until the repair controller frees
 * it.
 */
import type { ApiObject } from '../schemas/meta/api-object.js'

export interface Allocated {
  /** The object was written: releases what the old object had and the new one has not. Never rejects. */
  readonly commit: () => Promise<void>
  /** The object was not written: releases what was allocated and restores the object. Never rejects. */
  readonly revert: () => Promise<void>
}

export interface Allocation {
  /**
   * Allocates the values of an object that is not yet validated, sets them in the object, and checks values the client
   * chose. A dry run allocates nothing.
   * @param old the replaced object, undefined on create
   * @throws StatusError 422 for an unavailable value, 500 when none is free; StorageError
   */
  readonly allocate: (object: ApiObject, old: ApiObject | undefined, dryRun: boolean) => Promise<Allocated>
  /** Releases the values of a deleted object. Never rejects. */
  readonly release: (object: ApiObject) => Promise<void>
}
