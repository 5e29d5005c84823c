/** The state of a whole store at one revision, on its way between a store, a snapshot and another store. */
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
  /** Call after all objects were read, before they are used elsewhere. @throws StorageError if a store that must not change did */
  readonly unchanged: () => Promise<void>
  /** Idempotent. */
  readonly close: () => Promise<void>
}

/** An empty store that is filled. Until `finish` resolves no server starts on it, and a crash leaves nothing that looks complete. */
export interface StoreWriter {
  /** @throws StorageError */
  readonly put: (objects: readonly StoredObject[]) => Promise<void>
  /** Makes the store durable and usable. @returns its revision */
  readonly finish: () => Promise<Revision>
  /** Removes what was put, as far as possible. Idempotent, and without effect after `finish`. */
  readonly discard: () => Promise<void>
}

/** A file of a store that was made smaller. */
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
/** More than a server writes. */
const MAX_WRITES_A_SECOND = 25_000

/**
 * The revision at which a store with these contents continues. After the state was read its own store may have gone on, and clients may know
 * those revisions. None of them may ever be given again, for a client that goes on from one would miss changes. So the new store continues
 * beyond all of them, and has compacted all up to there.
 */
export const firstRevision = ({ revision, takenAt }: StoreReader, now = Date.now()): Revision =>
  revision + MIN_GAP + Math.max(0, Math.ceil((now - takenAt) / 1000)) * MAX_WRITES_A_SECOND

/** Objects that end within a minute are left out: old events, and the keys of servers that ran. A lease must not end while its objects are written. */
const MIN_LEFT_MS = 60_000

export const expiresSoon = (lease: Lease | undefined, now: number): boolean => lease !== undefined && lease.expires <= now + MIN_LEFT_MS
