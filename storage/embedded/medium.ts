/** The storage of the embedded engine: a disk (`lmdb.ts`) or memory (`memory.ts`). */
import type { Revision } from '../backend.js'
import type { StorageError } from '../errors.js'
import type { Version } from './history.js'

/** One change of a batch; a batch is applied in order, all or nothing. */
export type Change =
  /** `frees` marks changes that free space, now or later. */
  | { readonly type: 'put', readonly version: Version, readonly frees: boolean }
  | { readonly type: 'forget', readonly version: Version }
  | { readonly type: 'lease', readonly lease: StoredLease }
  | { readonly type: 'unlease', readonly id: number }
  | { readonly type: 'compacted', readonly revision: Revision }

export interface StoredLease {
  readonly id: number
  readonly ttlSeconds: number
  /** End of the lease in milliseconds since 1970. */
  readonly expires: number
}

/** State read on opening, before any record. */
export interface StoredState {
  readonly compacted: Revision
  /** The newest revision ever written, whether its version is still kept or not; 0 if unknown. */
  readonly revision: Revision
  readonly leases: readonly StoredLease[]
}

export interface StoredVersion {
  readonly key: string
  readonly revision: Revision
  readonly created: Revision
  readonly lease: number
  /** Given by a medium that keeps values. */
  readonly value?: Uint8Array
}

/** A state of a store, to be continued elsewhere. */
export interface Contents {
  readonly revision: Revision
  /** Of existing keys, ascending by key. */
  readonly versions: ReadonlyArray<Required<StoredVersion>>
  readonly leases: readonly StoredLease[]
}

export interface Medium {
  readonly name: string
  /** True if values stay in memory with their versions because they cannot be read elsewhere. */
  readonly keepsValues: boolean
  /** Calls back when the next batch should be collected: after an event loop turn, or a microtask. */
  gather: (start: () => void) => void
  state: () => StoredState
  /**
   * Every stored version in revision order, in batches. Called once, before anything else.
   * @throws RangeError if versions are missing or damaged
   */
  versions: () => Iterable<StoredVersion[]>
  /**
   * Why values are refused at present, undefined if they are not. Read for each write, so it avoids system calls where
   * possible.
   */
  readonly refusal: StorageError | undefined
  /** As `refusal`, after checking the disk. */
  readonly shortage: StorageError | undefined
  /**
   * Makes the batch durable: once resolved, it survives a crash.
   * @throws StorageError 'NoSpace' if the batch was not attempted; 'Unavailable' if nothing was written,
   * 'UnknownOutcome' if that is uncertain: after these two the medium must not be written to again
   */
  commit: (changes: readonly Change[]) => Promise<void>
  /** A copy of a durable version's bytes. @throws StorageError 'Corrupt' if they are missing or changed */
  value: (version: Version) => Uint8Array
  /** Bytes occupied. */
  size: () => Promise<number>
  close: () => Promise<void>
}
