/**
 * Where the embedded engine keeps its bytes: a disk (`lmdb.ts`) or nothing but memory (`memory.ts`).
 */
import type { Revision } from '../backend.js'
import type { StorageError } from '../errors.js'
import type { Version } from './history.js'

/** One step of a batch; a batch is applied whole or not at all, in this order. */
export type Change =
  /** `frees` what makes room, at once or later. */
  | { readonly type: 'put', readonly version: Version, readonly frees: boolean }
  | { readonly type: 'forget', readonly version: Version }
  | { readonly type: 'lease', readonly lease: StoredLease }
  | { readonly type: 'unlease', readonly id: number }
  | { readonly type: 'compacted', readonly revision: Revision }

export interface StoredLease {
  readonly id: number
  readonly ttlSeconds: number
  /** Wall-clock time of its end in milliseconds since 1970. */
  readonly expires: number
}

/** What a medium tells of itself when it is opened, before any record. */
export interface StoredState {
  readonly compacted: Revision
  /** The newest ever written, whether its version is still kept or not; 0 where that is not known. */
  readonly revision: Revision
  readonly leases: readonly StoredLease[]
}

export interface StoredVersion {
  readonly key: string
  readonly revision: Revision
  readonly created: Revision
  readonly lease: number
}

export interface Medium {
  readonly name: string
  /** True when values stay with their versions because there is nowhere else to read them from. */
  readonly keepsValues: boolean
  /** Calls back on the queue where the next batch is to be gathered: a turn of the loop, or a microtask. */
  gather: (start: () => void) => void
  state: () => StoredState
  /** Every stored version in order of revision, in batches. Asked once, before anything else. @throws RangeError when there are not those there should be */
  versions: () => Iterable<StoredVersion[]>
  /** Why no values are taken at present, undefined while they are; asked for each write, so it looks no further than it must. */
  readonly refusal: StorageError | undefined
  /** The same after a look at the disk. */
  readonly shortage: StorageError | undefined
  /**
   * Makes the batch durable. Resolved: it survives a crash.
   * @throws StorageError 'NoSpace' when the batch was not tried; 'Unavailable' when nothing of it was written, 'UnknownOutcome'
   * when that is not certain: after these two the medium must not be written to again
   */
  commit: (changes: readonly Change[]) => Promise<void>
  /** The bytes of a durable version, a copy of their own. @throws StorageError 'Corrupt' when they are gone or not those that were written */
  value: (version: Version) => Uint8Array
  /** Bytes occupied. */
  size: () => Promise<number>
  close: () => Promise<void>
}
