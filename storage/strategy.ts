/**
 * What is particular to a resource beyond its declaration: how an object is prepared before it is
 * admitted and stored, and what else holds it back from removal. It stands beside the resource's route. All of
 * it runs inside the read-modify-write loop and must not care how often.
 */
import type { ApiObject } from '../schemas/index.js'

export interface Strategy<T extends ApiObject = ApiObject> {
  /** Sets what the server decides about a new object; clears what clients may not set. */
  readonly prepareForCreate?: (object: T) => void
  /** Takes from `old` what an update of this subresource ('' for the object itself) may not change. */
  readonly prepareForUpdate?: (object: T, old: T, subresource: string) => void
  /** Marks an object whose deletion begins, beside its deletionTimestamp. */
  readonly beginDelete?: (object: T) => void
  /** True while something other than metadata.finalizers holds a terminating object. */
  readonly held?: (object: T) => boolean
}

/** For generic code: what a typed strategy does to the objects of its own resource. */
export function strategy<T extends ApiObject> (particulars: Strategy<T>): Strategy {
  return particulars as unknown as Strategy // each store hands it only objects decoded by its own message
}
