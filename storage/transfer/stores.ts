/**
 * Readers and writers of whole stores: a snapshot, a restore and a migration copy the state of a store at one revision.
 */
import type { Revision } from '../backend.js'

export interface Lease {
  readonly ttlSeconds: number
  /** End in milliseconds since 1970. */
  readonly expires: number
}

export interface StoredObject {
  readonly key: string
  /** The stored bytes: encrypted values stay encrypted. */
  readonly value: Uint8Array
  readonly createRevision: Revision
  readonly modRevision: Revision
  /** Values with the same lease have the same object. */
  readonly lease: Lease | undefined
}

export interface StoreReader {
  readonly source: 'embedded' | 'etcd'
  readonly revision: Revision
  /** When the state was read, in milliseconds since 1970. */
  readonly takenAt: number
  /** The path above all keys; undefined for an embedded store, which may have several. */
  readonly prefix: string | undefined
  /** Number of objects, undefined if it is not known in advance. */
  readonly count: number | undefined
  /**
   * Every object once, in batches of about a mebibyte. May be called once.
   * @throws StorageError if they can't all be read
   */
  readonly objects: () => AsyncIterable<readonly StoredObject[]>
  /**
   * Call after all objects were read, before they are used.
   * @throws StorageError if a store that must not change has changed
   */
  readonly unchanged: () => Promise<void>
  /** Idempotent. */
  readonly close: () => Promise<void>
}

/**
 * Fills an empty store. Until `finish` resolves, no server starts on it; after a crash it is recognizably incomplete.
 */
export interface StoreWriter {
  /** @throws StorageError */
  readonly put: (objects: readonly StoredObject[]) => Promise<void>
  /** Makes the store durable and usable. @returns its revision */
  readonly finish: () => Promise<Revision>
  /** Removes the objects that were put, as far as possible. Idempotent, and without effect after `finish`. */
  readonly discard: () => Promise<void>
}

/** The size of a store's file before and after compaction. */
export interface Compacted {
  /** The folder, or a server of etcd. */
  readonly place: string
  /** Bytes. */
  readonly before: number
  readonly after: number
}

/** Bytes of the values and keys of a batch. */
export const BATCH_BYTES = 1024 * 1024

export const bytesOf = ({ key, value }: StoredObject): number => key.length + value.byteLength

/** Revisions between the state that was read and the first one of the new store. */
const MIN_GAP = 1_000_000_000
/** More writes than a server can do. */
const MAX_WRITES_A_SECOND = 25_000

/**
 * The first revision of the new store. It exceeds every revision that the old store may have issued since the state was
 * read, so that no client misses a change. Everything up to it counts as compacted.
 */
export const firstRevision = ({ revision, takenAt }: StoreReader, now = Date.now()): Revision =>
  revision + MIN_GAP + Math.max(0, Math.ceil((now - takenAt) / 1000)) * MAX_WRITES_A_SECOND

/** Objects that expire within a minute are not copied: their lease could end during the copy. */
const MIN_LEFT_MS = 60_000

export const expiresSoon = (lease: Lease | undefined, now: number): boolean => lease !== undefined &&
  lease.expires <= now + MIN_LEFT_MS
