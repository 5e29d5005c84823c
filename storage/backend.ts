/**
 * The waist of the house: what the objects above need from the bytes below, in keys, values and
 * revisions. Everything above this file works on every back end; everything below it knows nothing of
 * objects, kinds or HTTP.
 *
 * A back end is one totally ordered history. Each successful create, update and delete takes the next
 * revision (strictly rising, not necessarily by one), and a reader at revision R sees exactly the writes
 * with a revision ≤ R. Revisions are positive safe integers; they survive restarts and never go back.
 *
 * Keys are printable ASCII (see `key.ts`; writes refuse others with a TypeError); ranges are ordered by code
 * unit, `start` inclusive, `end` exclusive.
 */

import type { StorageError } from './errors.js'

export type Revision = number

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  /** Revision of the create this value descends from; a delete in between starts it anew. */
  readonly createRevision: Revision
  /** Revision of the write that left this value. */
  readonly modRevision: Revision
  /** 'Corrupt': there is a value and the store can't read it, so `value` is empty. What else is asked for is not withheld for it. */
  readonly damage?: StorageError
}

export interface ReadResult {
  /** The state the answer shows: the requested revision, else the newest at the time of the read. */
  readonly revision: Revision
  readonly kv: KeyValue | undefined
}

export interface RangeRequest {
  readonly start: string
  readonly end: string
  /** At most this many items, 0 or absent for all. */
  readonly limit?: number
  /** The state to read; absent or 0 for the newest (a linearizable read). */
  readonly revision?: Revision
}

export interface RangeResult {
  readonly revision: Revision
  /** Ascending by key. */
  readonly kvs: KeyValue[]
  /** True when the range holds more items after the last one returned. */
  readonly more: boolean
  /** Items in the whole range at that revision, `limit` or not. */
  readonly count: number
}

/**
 * The outcome of a compare-and-put. `succeeded: false` means that the comparison failed and nothing was
 * written; `current` is then the value that stood in the way, undefined when the key does not exist.
 */
export type WriteResult =
  | { readonly succeeded: true, readonly revision: Revision }
  | { readonly succeeded: false, readonly revision: Revision, readonly current: KeyValue | undefined }

export interface WriteOptions {
  /**
   * A lease from `lease()`: the key is deleted (with an event) when the lease ends, unless a later write,
   * with another lease or none, has freed it. A lease that has ended is refused with 'NotFound'.
   */
  readonly lease?: LeaseId
  /** The write is a step of a deletion: it may use the room that a nearly full store keeps for deletes. */
  readonly deleting?: boolean
}

/** Another key of the same store, which has to exist at that revision, a positive one. */
export interface Guard {
  readonly key: string
  readonly revision: Revision
}

export interface CreateOptions extends WriteOptions {
  /**
   * Compared in the same step as the key itself: nothing is created once the guard's key has been written or deleted
   * by anybody. Where the key to create exists `current` shows it, as ever; undefined there says that it was the guard.
   */
  readonly guard?: Guard
}

export type LeaseId = string

/**
 * `previous` may be read from the store when it is first looked at: whoever wants it looks while being told of the
 * event, as a later compaction takes it away.
 */
export type BackendEvent =
  | { readonly type: 'put', readonly kv: KeyValue, readonly previous: KeyValue | undefined }
  /** `kv.modRevision` is the revision of the delete; `kv.value` is empty. `previous` is the last value, undefined only when it is compacted away or was not asked for. */
  | { readonly type: 'delete', readonly kv: KeyValue, readonly previous: KeyValue | undefined }

export interface WatchRequest {
  readonly start: string
  readonly end: string
  /** Deliver every event with a revision greater than this one. */
  readonly after: Revision
  /** False for a receiver that knows what was there before: events may then come without their `previous`, which costs less. */
  readonly previous?: boolean
  /**
   * Events of one or more whole revisions, in order of revision, each exactly once over the life of the
   * watch, reconnections included. Never called before `watch` has returned; must not throw, which
   * would end this watch with 'Closed'. `revision` is the newest revision up to which everything in the
   * range has now been delivered.
   */
  readonly onEvents: (events: BackendEvent[], revision: Revision) => void
  /** Nothing in the range happened up to this revision beyond what was delivered. */
  readonly onProgress: (revision: Revision) => void
  /** The watch is over and will deliver nothing more: compacted, closed, or a failure nothing can mend. */
  readonly onEnd: (error: StorageError) => void
}

export interface BackendWatch {
  /**
   * Ask for an `onProgress` soon (used by consistent reads); cheap, may be coalesced, safe when idle. The
   * answer is how far the watch is now; on etcd it is also brought to where the store is, whoever wrote there, and told of each
   * step it makes in the next seconds.
   */
  requestProgress: () => void
  /** Ends the watch without an `onEnd`. Idempotent. */
  cancel: () => void
}

export interface BackendStatus {
  /** Bytes the store occupies, NaN where it does not tell us. */
  readonly size: number
  readonly revision: Revision
}

export interface Backend {
  /** For logs and errors: 'memory', 'embedded', 'etcd'. */
  readonly name: string

  /**
   * One key, newest or at a past revision. A newest read is linearizable: it sees every write that was
   * acknowledged before the call. Safe to retry.
   * @throws StorageError 'Compacted' (revision no longer kept), 'FutureRevision' (newer than the store's), 'Unavailable'
   */
  get: (key: string, revision?: Revision) => Promise<ReadResult>

  /** A range, newest (linearizable) or at a past revision. Errors as `get`. Safe to retry. */
  list: (request: RangeRequest) => Promise<RangeResult>

  /** Number of keys in the range in the newest state. */
  count: (start: string, end: string) => Promise<number>

  /**
   * Puts the value if the key does not exist. A resolved promise means the outcome is known, and a
   * success is durable and already visible to reads and, in order, to watches. A rejected promise
   * with code 'Unavailable' means that nothing was written; 'UnknownOutcome' that the back end could
   * not find out (it has read back first and never retries blindly): the caller must not assume either.
   * 'NoSpace' is as 'Unavailable', for want of room on the store's disk: reads, and deletes while they can, go on.
   */
  create: (key: string, value: Uint8Array, options?: CreateOptions) => Promise<WriteResult>

  /** Replaces the value if the key's modRevision is `expected`. Outcome as `create`. */
  update: (key: string, value: Uint8Array, expected: Revision, options?: WriteOptions) => Promise<WriteResult>

  /** Removes the key if its modRevision is `expected`. Outcome as `create`. */
  delete: (key: string, expected: Revision) => Promise<WriteResult>

  /**
   * Every change in a range after a revision. `after` may lie in the past (replayed while it is kept), be the newest,
   * or lie in the future (events up to it are not delivered). An `after` below the compacted
   * revision ends the watch with 'Compacted', never with a gap.
   */
  watch: (request: WatchRequest) => BackendWatch

  /**
   * Forgets superseded states below `revision`: reads at less than it and watches from less than it
   * answer 'Compacted' afterwards. Compacting an already compacted revision is a no-op.
   * @throws StorageError 'FutureRevision'
   */
  compact: (revision: Revision) => Promise<void>

  /** The highest compacted revision this process knows of (0: none). No I/O. */
  compactedRevision: () => Revision

  /**
   * The newest revision, linearizable: at least that of any write acknowledged before the call. Calls that share one
   * question to the store are given one promise.
   */
  revision: () => Promise<Revision>

  /**
   * The newest revision where it can be known without I/O and is as good as `revision()`, else undefined.
   * The embedded store always knows; etcd never does. When it answers R, every watch has already been
   * given all its events up to R.
   */
  revisionNow: () => Revision | undefined

  /** A cheap proof that the store answers. @throws StorageError 'Unavailable' */
  status: () => Promise<BackendStatus>

  /** Why the store takes no values at present though it answers: 'NoSpace'. Absent where that can't be known before a write. */
  shortage?: () => StorageError | undefined

  /** A lease of that many whole seconds; keys put with it vanish after it ends. Leases survive a restart. */
  lease: (ttlSeconds: number) => Promise<LeaseId>

  /** Ends watches with 'Closed', finishes or refuses writes under way, frees files and sockets. Idempotent. */
  close: () => Promise<void>
}
