/**
 * All objects of one resource type in memory, ordered by key, kept up to date by one watch of the back
 * end, with a window of recent events for watchers. Reads from it are consistent: `fresh` first learns
 * the store's newest revision and waits until the cache has reached it.
 *
 * Snapshots are versions of a copy-on-write map. Those that a list handed out pages of are remembered
 * while the window still covers what has changed since; after that the back end answers at that revision.
 */
import type { Backend, BackendEvent, BackendWatch, KeyValue, Revision } from '../backend.js'
import { isStorageError, StorageError } from '../errors.js'
import { CacheEvent } from './event.js'
import type { Entry } from './entry.js'
import { Offers } from './offers.js'
import type { Offer } from './offers.js'
import { OrderedMap } from './ordered-map.js'
import { Pins } from './pins.js'
import type { Snapshot } from './pins.js'
import { EventWindow } from './window.js'

export type { Snapshot } from './pins.js'

export interface Subscriber {
  /** There is something new after the cursor; called at most once per turn of the loop. */
  wake: () => void
  /** No more events will come; the cursor's place is lost. */
  end: (error: StorageError) => void
}

export interface WatchCacheOptions {
  readonly backend: Backend
  readonly start: string
  readonly end: string
  /** Bytes to entry; throws 'Corrupt'. `revision` is what the entry's resourceVersion will be. */
  readonly decode: (kv: KeyValue, revision: Revision) => Entry
  /** Events kept at least. */
  readonly windowSize: number
  readonly log: (message: string, error: unknown) => void
}

const PAGE = 1000
const PIECE_MS = 10
/** Reads that name a revision the store has not reached wait this long. */
const FUTURE_WAIT_MS = 3000
const POLL_MS = 25
/** A request does not wait longer than this for a store that gives nothing. */
const LOAD_WAIT_MS = 10_000
/** Nor for one that has failed for longer than this. */
const FAILING_WAIT_MS = 3000
/** Between two attempts to load. */
const MOST_RETRY_MS = 1000

export class WatchCache {
  readonly #options: WatchCacheOptions
  #map = OrderedMap.empty<Entry>()
  #window: EventWindow
  #revision: Revision = 0
  /** Revision of the newest event in the map. */
  #changed: Revision = 0
  #watch: BackendWatch | undefined
  #loaded = false
  #closed = false
  #loading: Promise<void> | undefined
  readonly #offers = new Offers()
  readonly #pins = new Pins()
  #failure: unknown
  /** When loading began to fail. */
  #failingSince = Infinity
  #subscribers = new Set<Subscriber>()
  #waking = false
  #waiters = new Set<() => void>()

  constructor (options: WatchCacheOptions) {
    this.#options = options
    this.#window = new EventWindow(0, options.windowSize)
  }

  /** Loads once; later calls share the first. Retried until it succeeds or the cache is closed. */
  open (): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  get loaded (): boolean { return this.#loaded }
  get size (): number { return this.#map.size }
  get window (): EventWindow { return this.#window }

  close (): void {
    this.#closed = true
    this.#watch?.cancel()
    this.#endSubscribers(new StorageError('Closed', 'the server is closing'))
    this.#wakeWaiters()
  }

  /** The revision the map shows: nothing in the range happened after the newest event up to it. */
  get revision (): Revision {
    const now = this.#loaded ? this.#options.backend.revisionNow() : undefined
    return now !== undefined && now > this.#revision ? now : this.#revision
  }

  get snapshot (): Snapshot { return { revision: this.revision, map: this.#map } }

  /** Undefined when the map already shows every acknowledged write, else a promise of that. */
  fresh (): Promise<void> | undefined {
    if (this.#loaded && this.#options.backend.revisionNow() !== undefined) return undefined
    return this.#refresh()
  }

  async #refresh (): Promise<void> {
    const revision = await this.#options.backend.revision()
    await this.ready()
    await this.reach(revision, LOAD_WAIT_MS).catch((error: unknown) => {
      // The caller named no version: it is the store's changes that do not come.
      throw isStorageError(error, 'FutureRevision') ? new StorageError('Unavailable', `the changes up to revision ${revision} did not arrive in time`, { cause: error }) : error
    })
  }

  /**
   * Resolves when the objects are in memory.
   * @throws StorageError 'Unavailable' when that takes too long, or loading them has failed for a while, with why
   */
  async ready (): Promise<void> {
    if (this.#loaded) return
    void this.open()
    const until = Date.now() + LOAD_WAIT_MS
    while (!this.#loaded) {
      const left = Math.min(until, this.#failingSince + FAILING_WAIT_MS) - Date.now()
      if (left <= 0 || this.#closed) throw new StorageError('Unavailable', `the objects below ${this.#options.start} are not loaded`, { cause: this.#failure })
      await this.#pause(left)
    }
  }

  /**
   * Resolves when the map shows `revision`.
   * @throws StorageError 'FutureRevision' when it does not come within the wait, 'Closed'
   */
  async reach (revision: Revision, waitMs = FUTURE_WAIT_MS): Promise<void> {
    if (!this.#loaded) await this.ready()
    if (this.revision >= revision) return
    const until = Date.now() + waitMs
    while (this.revision < revision) {
      if (this.#closed) throw new StorageError('Closed', 'the server is closing')
      const left = until - Date.now()
      if (left <= 0) throw new StorageError('FutureRevision', `revision ${revision} is newer than ${this.revision}`)
      if (this.#options.backend.revisionNow() === undefined) this.#watch?.requestProgress()
      await this.#pause(Math.min(POLL_MS, left))
    }
  }

  #pause (ms: number): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiters.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#waiters.add(done)
    })
  }

  /** The state at exactly that revision, if it is still known here. */
  snapshotAt (revision: Revision): Snapshot | undefined {
    if (revision <= this.revision && revision >= this.#changed) return { revision, map: this.#map }
    return this.#pins.at(revision)
  }

  /** Remembers a snapshot whose later pages somebody will ask for. */
  pin (snapshot: Snapshot): void { this.#pins.add(snapshot, this.#window) }

  /** Hands over the writer's own object before a write, so that its event need not be decoded. */
  offer (key: string, offer: Offer): void { this.#offers.add(key, offer) }

  subscribe (subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber)
    return () => { this.#subscribers.delete(subscriber) }
  }

  async #load (): Promise<void> {
    for (let attempt = 0; !this.#closed; attempt++) {
      try {
        await this.#list()
        return
      } catch (error) {
        if (this.#closed || isStorageError(error, 'Closed')) return
        if (attempt === 0) this.#options.log(`loading ${this.#options.start} failed, trying again until it succeeds`, error)
        this.#failure = error
        if (this.#failingSince === Infinity) this.#failingSince = Date.now()
        this.#wakeWaiters()
        await this.#pause(Math.min(MOST_RETRY_MS, 100 * 2 ** attempt))
      }
    }
  }

  async #list (): Promise<void> {
    const { backend, end, decode } = this.#options
    const pairs: Array<[string, Entry]> = []
    let start = this.#options.start
    let revision: Revision | undefined
    let since = performance.now()
    for (;;) {
      const page = await backend.list({ start, end, limit: PAGE, ...(revision === undefined ? {} : { revision }) })
      revision ??= page.revision
      for (const kv of page.kvs) {
        pairs.push([kv.key, decode(kv, kv.modRevision)])
        if (performance.now() - since > PIECE_MS) {
          await new Promise(resolve => { setImmediate(resolve) })
          since = performance.now()
        }
      }
      const last = page.kvs.at(-1)
      if (!page.more || last === undefined) break
      start = `${last.key}\0`
    }
    if (this.#closed) return
    this.#map = OrderedMap.fromSorted(pairs)
    this.#revision = this.#changed = revision
    this.#window = new EventWindow(revision, this.#options.windowSize)
    this.#pins.clear()
    this.#follow(revision)
    this.#loaded = true
    this.#failure = undefined
    this.#failingSince = Infinity
    this.#wakeWaiters()
  }

  #follow (after: Revision): void {
    this.#watch = this.#options.backend.watch({
      start: this.#options.start,
      end: this.#options.end,
      after,
      onEvents: (events, revision) => {
        try {
          this.#apply(events, revision)
        } catch (error) {
          this.#watch?.cancel()
          this.#lost(isStorageError(error) ? error : new StorageError('Corrupt', 'a change could not be applied', { cause: error }))
        }
      },
      onProgress: revision => {
        if (revision <= this.#revision) return // waking nobody for nothing: waiters ask for progress again
        this.#revision = revision
        this.#wakeWaiters()
      },
      onEnd: error => { this.#lost(error) }
    })
  }

  #apply (events: BackendEvent[], revision: Revision): void {
    const now = Date.now()
    for (const event of events) {
      const made = this.#eventOf(event)
      if (made === undefined) continue
      this.#map = made.type === 'DELETED' ? this.#map.delete(event.kv.key) : this.#map.set(event.kv.key, made.entry)
      this.#changed = made.revision
      this.#window.push(made, now)
    }
    if (revision > this.#revision) this.#revision = revision
    this.#pins.trim(this.#options.backend.compactedRevision(), this.#window)
    this.#wakeWaiters()
    this.#wakeSubscribers()
  }

  #eventOf (event: BackendEvent): CacheEvent | undefined {
    const { kv } = event
    const previous = this.#map.get(kv.key)
    const revision = kv.modRevision
    try {
      if (event.type === 'delete') {
        if (previous === undefined) return undefined
        const last = this.#options.decode(event.previous ?? { ...kv, value: previous.json }, revision)
        return new CacheEvent('DELETED', revision, last, previous)
      }
      return new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', revision, this.#offers.take(kv, revision) ?? this.#options.decode(kv, revision), previous)
    } catch (error) {
      throw new StorageError('Corrupt', `the stored value of ${kv.key} at revision ${revision} can't be decoded`, { key: kv.key, cause: error })
    }
  }

  /** The back end can't go on without a gap: everybody starts again from a new list. */
  #lost (error: StorageError): void {
    if (this.#closed) return
    this.#loaded = false
    this.#endSubscribers(new StorageError('Compacted', 'the history of changes was interrupted', { cause: error }))
    if (error.code === 'Closed') return
    this.#options.log(`the watch of ${this.#options.start} ended, loading again`, error)
    this.#loading = this.#load()
  }

  #endSubscribers (error: StorageError): void {
    for (const subscriber of [...this.#subscribers]) subscriber.end(error)
    this.#subscribers.clear()
  }

  #wakeWaiters (): void {
    if (this.#waiters.size === 0) return
    for (const wake of [...this.#waiters]) wake()
  }

  #wakeSubscribers (): void {
    if (this.#waking || this.#subscribers.size === 0) return
    this.#waking = true
    setImmediate(() => {
      this.#waking = false
      for (const subscriber of this.#subscribers) subscriber.wake()
    })
  }
}
