/**
 * All objects of one resource type in memory, ordered by key, kept current by one watch of the back end, with a window
 * of recent events for watchers. Reads are consistent: `fresh` reads the store's newest revision and waits until the
 * cache has reached it.
 */
import type { Revision } from '../backend.js'
import { futureRevision, isStorageError, StorageError } from '../errors.js'
import type { Entry } from './entry.js'
import type { Required } from './field-index.js'
import { Follower, POLL_MS, type FollowerOptions } from './follower.js'
import type { PendingWrite } from './pending-writes.js'
import type { Snapshot } from './pins.js'
import type { Place } from './subscribers.js'
import type { EventWindow } from './window.js'

/** How long reads wait for a revision that the store has not reached. */
export const FUTURE_WAIT_MS = 3000
/** How long a request waits for the cache to load. */
const LOAD_WAIT_MS = 10_000
/** How long requests wait when loading keeps failing. */
const FAILING_WAIT_MS = 3000

export class WatchCache {
  readonly #options: FollowerOptions
  readonly #followed: Follower
  /** The latest request for the store's newest revision; `#refreshed` resolves when the cache has reached it. */
  #pendingRevision: Promise<Revision> | undefined
  #refreshed: Promise<void> | undefined

  constructor (options: FollowerOptions) {
    this.#options = options
    this.#followed = new Follower(options)
  }

  /** Loads once; later calls share the first. Retries until it succeeds or the cache is closed. */
  open (): Promise<void> { return this.#followed.open() }
  /** @param reason the error for its watches */
  close (reason = new StorageError('Closed', 'the server is closing')): void { this.#followed.close(reason) }

  get loaded (): boolean { return this.#followed.loaded }
  get size (): number { return this.#followed.state.map.size }
  get window (): EventWindow { return this.#followed.state.window }
  /** The revision of the map: it contains every event in the range up to it. */
  get revision (): Revision { return this.#followed.revision }
  get snapshot (): Snapshot { return { revision: this.revision, map: this.#followed.state.map } }

  /** @throws StorageError 'Corrupt' or 'Undecryptable' if the object exists but is unreadable */
  get (key: string): Entry | undefined { return this.#followed.state.get(key) }
  /** @throws StorageError as `CacheState.refuseDamage` */
  refuseDamage (start: string, end: string): void { this.#followed.state.refuseDamage(start, end) }
  /** As `CacheState.keysWith`. */
  keysWith (snapshot: Snapshot, required: readonly Required[]): ReadonlySet<string> | undefined {
    return this.#followed.state.keysWith(snapshot, required)
  }

  /**
   * Returns undefined if the map already contains every acknowledged write, otherwise a promise that resolves when it
   * does.
   */
  fresh (): Promise<void> | undefined {
    const { backend } = this.#options
    if (this.loaded && backend.revisionNow() !== undefined) return undefined
    // Callers that share the request share the wait as well.
    const pending = backend.revision()
    if (pending !== this.#pendingRevision || this.#refreshed === undefined) {
      this.#pendingRevision = pending
      this.#refreshed = this.#refresh(pending)
    }
    return this.#refreshed
  }

  async #refresh (pending: Promise<Revision>): Promise<void> {
    const revision = await pending
    if (!this.loaded) await this.ready()
    if (this.revision >= revision) return
    await this.reach(revision, LOAD_WAIT_MS).catch((error: unknown) => {
      // The client requested no revision: the store's events are late.
      throw isStorageError(error, 'FutureRevision')
        ? new StorageError(
            'Unavailable', `the changes up to revision ${revision} did not arrive in time`, { cause: error }
          )
        : error
    })
  }

  /**
   * Resolves when the objects are in memory.
   * @throws StorageError 'Unavailable' with the cause, if that takes too long or keeps failing
   */
  async ready (): Promise<void> {
    if (this.loaded) return
    void this.open()
    const until = performance.now() + LOAD_WAIT_MS
    while (!this.loaded) {
      const left = Math.min(until, this.#followed.failingSince + FAILING_WAIT_MS) - performance.now()
      if (left <= 0 || this.#followed.closed) {
        throw new StorageError(
          'Unavailable', `the objects below ${this.#options.scope} are not loaded`, { cause: this.#followed.failure }
        )
      }
      await this.#followed.waiters.pause(left)
    }
  }

  /**
   * Resolves when the map has reached `revision`.
   * @throws StorageError 'FutureRevision' after the wait, 'Closed'
   */
  async reach (revision: Revision, waitMs = FUTURE_WAIT_MS): Promise<void> {
    if (!this.loaded) await this.ready()
    if (this.revision >= revision) return
    const until = performance.now() + waitMs
    while (this.revision < revision) {
      if (this.#followed.closed) throw new StorageError('Closed', 'the server is closing')
      const left = until - performance.now()
      if (left <= 0) throw futureRevision(revision, this.revision)
      if (this.#options.backend.revisionNow() === undefined) this.#followed.requestProgress()
      await this.#followed.waiters.pause(Math.min(POLL_MS, left))
    }
  }

  /** The state at exactly that revision, if it is known here. */
  snapshotAt (revision: Revision): Snapshot | undefined {
    return revision > this.revision ? undefined : this.#followed.state.snapshotAt(revision)
  }

  /** Keeps a snapshot for later pages of a list. */
  pin (snapshot: Snapshot): void { this.#followed.state.pin(snapshot) }

  /** Takes the entry of a writer before its write, so that the event need not be decoded. */
  expectWrite (key: string, write: PendingWrite): void { this.#followed.state.pendingWrites.add(key, write) }

  /** The value of an indexed field that a selector requires; not the empty one, which many objects may have. */
  selectedBy (required: readonly Required[]): Required | undefined {
    return required.find(({ at, value }) => value !== '' && this.#options.indexedFields.includes(at))
  }

  subscribe (place: Place): void { this.#followed.subscribers.add(place) }
  unsubscribe (place: Place): void { this.#followed.subscribers.delete(place) }
  get subscribers (): number { return this.#followed.subscribers.size }
  /** Number of watches that a change of a key, or of a key below a path that ends in '/', wakes. */
  watchesOf (scope: string): number { return this.#followed.subscribers.concernedBy(scope) }

  /** Drops expired events of an idle type. */
  trim (): void { this.#followed.state.window.trim(performance.now()) }
}
