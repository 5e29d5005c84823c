/**
 * The interface of all back ends, in keys, values and revisions. Code above this file works on every back end; code
 * below it knows nothing of objects, kinds or HTTP.
 *
 * A back end is one totally ordered history. Each successful create, update and delete takes the next revision
 * (strictly rising, not necessarily by one), and a reader at revision R sees exactly the writes with a revision ≤ R.
 * Revisions are positive safe integers; they survive restarts and never decrease.
 *
 * Keys are printable ASCII (see `key.ts`; writes refuse others with a TypeError). Ranges are ordered by code unit,
 * `start` inclusive, `end` exclusive.
 */

import type { StorageError } from './errors.js'

export type Revision = number

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  /** Revision of the create that this value descends from; a delete and create restarts it. */
  readonly createRevision: Revision
  /** Revision of the write that stored this value. */
  readonly modRevision: Revision
  /**
   * 'Corrupt' or 'Undecryptable' if the stored value is unreadable; `value` is then empty. The rest of the result stays
   * valid.
   */
  readonly damage?: StorageError
  /** True if nothing proves that the value was stored under this key: readers compare the names that it contains. */
  readonly unbound?: true
}

export interface ReadResult {
  /** The revision read: the requested one, else the newest at the time of the read. */
  readonly revision: Revision
  readonly kv: KeyValue | undefined
}

export interface RangeRequest {
  readonly start: string
  readonly end: string
  /** Maximum number of items; 0 or absent for all. */
  readonly limit?: number
  /** The revision to read; 0 or absent for the newest (a linearizable read). */
  readonly revision?: Revision
}

export interface RangeResult {
  readonly revision: Revision
  /** Ascending by key. */
  readonly kvs: KeyValue[]
  /** True if the range has more items after the last one returned. */
  readonly more: boolean
  /** Items in the whole range at that revision, regardless of `limit`. */
  readonly count: number
}

/**
 * The outcome of a compare-and-put. `succeeded: false` means that the comparison failed and nothing was written;
 * `current` is then the conflicting value, undefined if the key does not exist.
 */
export type WriteResult =
  | { readonly succeeded: true, readonly revision: Revision }
  | { readonly succeeded: false, readonly revision: Revision, readonly current: KeyValue | undefined }

export interface WriteOptions {
  /**
   * A lease from `lease()`: the key is deleted (with an event) when the lease ends, unless a later write uses another
   * lease or none. An ended lease is refused with 'NotFound'.
   */
  readonly lease?: LeaseId
  /** The write is part of a deletion and may use the space that a nearly full store reserves for deletes. */
  readonly deleting?: boolean
}

/** Another key of the same store that must exist at that (positive) revision. */
export interface Guard {
  readonly key: string
  readonly revision: Revision
}

export interface CreateOptions extends WriteOptions {
  /**
   * Compared in the same transaction as the key: the create fails if the key of any guard has been written or deleted.
   * `current` is set if the key itself exists; undefined means that a guard failed.
   */
  readonly guards?: readonly Guard[]
}

export type LeaseId = string

/** Reading `previous` may access the store, and a later compaction removes it: read it within the event callback. */
export type BackendEvent =
  | { readonly type: 'put', readonly kv: KeyValue, readonly previous: KeyValue | undefined }
  /**
   * `kv.modRevision` is the revision of the delete; `kv.value` is empty. `previous` is the last value, undefined if it
   * was compacted or not requested.
   */
  | { readonly type: 'delete', readonly kv: KeyValue, readonly previous: KeyValue | undefined }

export interface WatchRequest {
  readonly start: string
  readonly end: string
  /** Deliver every event with a greater revision. */
  readonly after: Revision
  /** False if the receiver already knows previous values: events may then lack `previous`, which costs less. */
  readonly previous?: boolean
  /**
   * Delivers events of one or more whole revisions, in order of revision, each exactly once over the life of the watch,
   * reconnections included. Never called before `watch` has returned; must not throw, which would end this watch with
   * 'Closed'. `revision` is the newest revision up to which the range has been delivered completely.
   */
  readonly onEvents: (events: BackendEvent[], revision: Revision) => void
  /** No undelivered event in the range has a revision up to this one. */
  readonly onProgress: (revision: Revision) => void
  /** The watch has ended: compacted, closed, or a permanent failure. */
  readonly onEnd: (error: StorageError) => void
}

export interface BackendWatch {
  /**
   * Asks for `onProgress` soon, for consistent reads. Calls may be coalesced. On etcd the watch also advances to the
   * newest revision of the store, and reports each step for a few seconds.
   */
  requestProgress: () => void
  /** Ends the watch without an `onEnd`. Idempotent. */
  cancel: () => void
}

export interface BackendStatus {
  /** Bytes the store occupies, NaN if unknown. */
  readonly size: number
  readonly revision: Revision
}

export interface Backend {
  /** For logs and errors: 'memory', 'embedded', 'etcd'. */
  readonly name: string

  /** True if other processes may use the same store, even if `revisionNow` is known. */
  readonly shared?: boolean

  /**
   * Reads one key, at the newest or a past revision. A newest read is linearizable: it sees every write acknowledged
   * before the call. Safe to retry.
   * @throws StorageError 'Compacted' (revision no longer kept), 'FutureRevision' (newer than the store's),
   * 'Unavailable'
   */
  get: (key: string, revision?: Revision) => Promise<ReadResult>

  /** Reads a range, at the newest (linearizable) or a past revision. Errors as `get`. Safe to retry. */
  list: (request: RangeRequest) => Promise<RangeResult>

  /** Number of keys in the range at the newest revision. */
  count: (start: string, end: string) => Promise<number>

  /**
   * Puts the value if the key does not exist. A resolved promise means that the outcome is known; a success is durable
   * and already visible to reads and, in order, to watches. 'Unavailable' means that nothing was written.
   * 'UnknownOutcome' means that the back end could not determine the outcome, even by reading the key; it never retries
   * blindly, and the caller must not assume either. 'NoSpace' means that nothing was written because the store's disk
   * is full: reads continue, and deletes as long as possible.
   */
  create: (key: string, value: Uint8Array, options?: CreateOptions) => Promise<WriteResult>

  /** Replaces the value if the key's modRevision is `expected`. Outcome as `create`. */
  update: (key: string, value: Uint8Array, expected: Revision, options?: WriteOptions) => Promise<WriteResult>

  /** What readers get of a value that is written, if that may be another one. Writes nothing. Errors as `create`. */
  readonly asRead?: (key: string, value: Uint8Array) => Promise<Uint8Array>

  /** Deletes the key if its modRevision is `expected`. Outcome as `create`. */
  delete: (key: string, expected: Revision) => Promise<WriteResult>

  /**
   * Watches all changes of a range after a revision. `after` may be past (history is replayed while it is kept), newest
   * or future (events up to it are skipped). An `after` below the compacted revision ends the watch with 'Compacted',
   * never with a gap.
   */
  watch: (request: WatchRequest) => BackendWatch

  /**
   * Discards superseded states below `revision`: later reads and watches at lower revisions fail with 'Compacted'.
   * Compacting an already compacted revision is a no-op.
   * @throws StorageError 'FutureRevision'
   */
  compact: (revision: Revision) => Promise<void>

  /** The highest compacted revision this process knows of (0: none). No I/O. */
  compactedRevision: () => Revision

  /**
   * The newest revision, linearizable: at least that of any write acknowledged before the call. Concurrent calls that
   * share one request receive the same promise.
   */
  revision: () => Promise<Revision>

  /**
   * The newest revision if it is known without a call and as current as `revision()`, else undefined. The embedded
   * store always knows it, etcd never does. Every watch has already received all events up to the returned revision.
   */
  revisionNow: () => Revision | undefined

  /**
   * A revision up to which every watch has received all events, at least that of the last `revisionNow`; undefined if
   * unknown. Absent where `revisionNow` costs no more.
   */
  delivered?: () => Revision | undefined

  /** A cheap health check. @throws StorageError 'Unavailable' */
  status: () => Promise<BackendStatus>

  /** Why a healthy store refuses values at present: 'NoSpace'. Absent where that is unknown before a write. */
  shortage?: () => StorageError | undefined

  /**
   * Whether the newest value of the key is stored in a form that is read but no longer written, so that writing the
   * same value again changes it. Absent where values have one form. Errors as `get`.
   */
  outdated?: (key: string) => Promise<boolean>

  /** Grants a lease of that many whole seconds; its keys are deleted after it ends. Leases survive a restart. */
  lease: (ttlSeconds: number) => Promise<LeaseId>

  /** Ends watches with 'Closed', completes or refuses pending writes, closes files and sockets. Idempotent. */
  close: () => Promise<void>
}
