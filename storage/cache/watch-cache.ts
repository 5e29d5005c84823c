/**
 * All objects of one resource type in memory, ordered by key, kept current by one watch of the back end, with a window
 * of recent events for watchers. Reads are consistent: `fresh` reads the store's newest revision and waits until the
 * cache has reached it.
 *
 * Snapshots are versions of a copy-on-write map. Snapshots of paged lists are kept while the window covers the changes
 * since; after that the back end serves that revision.
 */
import type { Backend, BackendEvent, BackendWatch, KeyValue, Revision } from '../backend.js'
import { futureRevision, isStorageError, isUnreadable, StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { CacheEvent } from './event.js'
import type { Entry } from './entry.js'
import { PendingWrites, type PendingWrite } from './pending-writes.js'
import { OrderedMap } from './ordered-map.js'
import { Pins, type Snapshot } from './pins.js'
import type { StoreObserver } from '../observer.js'
import { Subscribers, type Place } from './subscribers.js'
import { FieldIndex, type Required } from './field-index.js'
import { Forms } from './forms.js'
import { EventWindow } from './window.js'

export type { Snapshot } from './pins.js'

export interface WatchCacheOptions {
  readonly backend: Backend
  /** Its name in metrics, such as `deployments.apps`. */
  readonly type: string
  /** Places of the fields by which objects are found. */
  readonly indexedFields: readonly number[]
  /** The path of all its keys. */
  readonly scope: string
  /** Decodes a value; throws 'Corrupt' or 'Undecryptable'. `revision` becomes the entry's resourceVersion. */
  readonly decode: (kv: KeyValue, revision: Revision) => Entry
  /** Minimum number of events to keep. */
  readonly windowSize: number
  readonly observer?: Pick<StoreObserver, 'changed' | 'loaded' | 'progressed'> | undefined
  readonly log: (message: string, error: unknown) => void
}

const PAGE = 1000
/** Maximum events to undo for a past snapshot. */
const MAX_UNDONE = 1000
/** How long reads wait for a revision that the store has not reached. */
export const FUTURE_WAIT_MS = 3000
const POLL_MS = 25
/** How long a request waits for the cache to load. */
const LOAD_WAIT_MS = 10_000
/** How long requests wait when loading keeps failing. */
const FAILING_WAIT_MS = 3000
/** Maximum delay between attempts to load. */
const MAX_RETRY_MS = 1000

export class WatchCache {
  readonly #options: WatchCacheOptions
  #map = OrderedMap.empty<Entry>()
  readonly #forms: Forms
  readonly #index: FieldIndex
  #window: EventWindow
  #revision: Revision = 0
  /** Revision of the newest event in the map. */
  #changed: Revision = 0
  #watch: BackendWatch | undefined
  #loaded = false
  #closed = false
  #loading: Promise<void> | undefined
  /** The initial watch, until it has caught up with the list. */
  #starting: { readonly resolve: () => void, readonly reject: (error: StorageError) => void } | undefined
  readonly #pendingWrites = new PendingWrites()
  readonly #pins = new Pins()
  /** Unreadable objects by key, usually none. */
  #damaged = new Map<string, StorageError>()
  /** The latest request for the store's newest revision; `#refreshed` resolves when the cache has reached it. */
  #pendingRevision: Promise<Revision> | undefined
  #refreshed: Promise<void> | undefined
  #failure: unknown
  /** When loading began to fail. */
  #failingSince = Infinity
  /** When progress was requested, reset by the response. */
  #progressRequestedAt = -Infinity
  readonly #subscribers: Subscribers
  #waiters = new Set<() => void>()

  constructor (options: WatchCacheOptions) {
    this.#options = options
    this.#window = new EventWindow(0, options.windowSize)
    this.#forms = new Forms(options.type, () => this.#runs())
    this.#index = new FieldIndex(options.indexedFields)
    this.#subscribers = new Subscribers(options.scope)
  }

  /** Loads once; later calls share the first. Retries until it succeeds or the cache is closed. */
  open (): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  get loaded (): boolean { return this.#loaded }
  get size (): number { return this.#map.size }
  get window (): EventWindow { return this.#window }

  /** @param reason the error for its watches */
  close (reason = new StorageError('Closed', 'the server is closing')): void {
    this.#closed = true
    this.#watch?.cancel()
    this.#starting?.resolve()
    this.#subscribers.end(reason)
    this.#leaveAll()
    this.#wakeWaiters()
  }

  /** What readers still hold of a state that is over keeps nothing. */
  #leaveAll (): void { for (const run of this.#runs()) for (const entry of run) entry.leave(this.#forms) }

  #runs (): Array<readonly Entry[]> {
    const runs: Array<readonly Entry[]> = []
    const { start, end } = rangeOf(this.#options.scope)
    this.#map.forEachRun(start, end, ({ values }) => runs.push(values) > 0)
    return runs
  }

  /** The revision of the map: it contains every event in the range up to it. */
  get revision (): Revision {
    const { backend } = this.#options
    const now = !this.#loaded
      ? undefined
      : backend.delivered === undefined
        ? backend.revisionNow()
        : backend.delivered()
    return now !== undefined && now > this.#revision ? now : this.#revision
  }

  /** @throws StorageError 'Corrupt' or 'Undecryptable' if the object exists but is unreadable */
  get (key: string): Entry | undefined {
    const entry = this.#map.get(key)
    if (entry !== undefined || this.#damaged.size === 0) return entry
    const damage = this.#damaged.get(key)
    if (damage !== undefined) throw damage
    return undefined
  }

  /**
   * Checks a range before it is listed.
   * @throws StorageError 'Corrupt' or 'Undecryptable' with the key of an unreadable object
   */
  refuseDamage (start: string, end: string): void {
    for (const [key, damage] of this.#damaged) if (key >= start && key < end) throw damage
  }

  /** Keys of all entries with these values, or of more, in no order; undefined if no index helps with this state. */
  keysWith ({ map }: Snapshot, required: readonly Required[]): ReadonlySet<string> | undefined {
    return map === this.#map ? this.#index.keysWith(required) : undefined
  }

  get snapshot (): Snapshot { return { revision: this.revision, map: this.#map } }

  /**
   * Returns undefined if the map already contains every acknowledged write, otherwise a promise that resolves when it
   * does.
   */
  fresh (): Promise<void> | undefined {
    const { backend } = this.#options
    if (this.#loaded && backend.revisionNow() !== undefined) return undefined
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
    if (!this.#loaded) await this.ready()
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
    if (this.#loaded) return
    void this.open()
    const until = performance.now() + LOAD_WAIT_MS
    while (!this.#loaded) {
      const left = Math.min(until, this.#failingSince + FAILING_WAIT_MS) - performance.now()
      if (left <= 0 || this.#closed) {
        throw new StorageError(
          'Unavailable', `the objects below ${this.#options.scope} are not loaded`, { cause: this.#failure }
        )
      }
      await this.#pause(left)
    }
  }

  /**
   * Resolves when the map has reached `revision`.
   * @throws StorageError 'FutureRevision' after the wait, 'Closed'
   */
  async reach (revision: Revision, waitMs = FUTURE_WAIT_MS): Promise<void> {
    if (!this.#loaded) await this.ready()
    if (this.revision >= revision) return
    const until = performance.now() + waitMs
    while (this.revision < revision) {
      if (this.#closed) throw new StorageError('Closed', 'the server is closing')
      const left = until - performance.now()
      if (left <= 0) throw futureRevision(revision, this.revision)
      if (this.#options.backend.revisionNow() === undefined) this.#requestProgress()
      await this.#pause(Math.min(POLL_MS, left))
    }
  }

  /** Requests progress, one at a time: more responses would queue up ahead of events. */
  #requestProgress (): void {
    const now = performance.now()
    if (now - this.#progressRequestedAt < POLL_MS - 1) return // timers may fire slightly early
    this.#progressRequestedAt = now
    this.#watch?.requestProgress()
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

  /** The state at exactly that revision, if it is known here. */
  snapshotAt (revision: Revision): Snapshot | undefined {
    if (revision > this.revision) return undefined
    if (revision >= this.#changed) return { revision, map: this.#map }
    return this.#pins.at(revision) ?? this.#before(revision)
  }

  /** Restores a past map by undoing events of the window, at most as many as a page from the back end would cost. */
  #before (revision: Revision): Snapshot | undefined {
    const window = this.#window
    const first = revision < window.since ? window.begin : window.firstAfter(revision)
    if (revision < window.since || window.end - first > MAX_UNDONE) return undefined
    let map = this.#map
    for (let number = window.end - 1; number >= first; number--) {
      const { entry, previous } = window.at(number) as CacheEvent // between begin and end
      map = previous === undefined ? map.delete(entry.key) : map.set(entry.key, previous)
    }
    const snapshot = { revision, map }
    this.#pins.add(snapshot, window)
    return snapshot
  }

  /** Keeps a snapshot for later pages of a list. */
  pin (snapshot: Snapshot): void { this.#pins.add(snapshot, this.#window) }

  /** Takes the entry of a writer before its write, so that the event need not be decoded. */
  expectWrite (key: string, write: PendingWrite): void { this.#pendingWrites.add(key, write) }

  subscribe (place: Place): void { this.#subscribers.add(place) }
  unsubscribe (place: Place): void { this.#subscribers.delete(place) }
  get subscribers (): number { return this.#subscribers.size }
  /** Number of watches that a change of a key, or of a key below a path that ends in '/', wakes. */
  watchesOf (scope: string): number { return this.#subscribers.concernedBy(scope) }

  async #load (): Promise<void> {
    for (let attempt = 0; !this.#closed; attempt++) {
      try {
        await this.#list()
        return
      } catch (error) {
        if (this.#closed || isStorageError(error, 'Closed')) return
        if (attempt === 0) this.#options.log(`listing ${this.#options.scope} failed, retrying until it succeeds`, error)
        this.#failure = error
        if (this.#failingSince === Infinity) this.#failingSince = performance.now()
        this.#wakeWaiters()
        await this.#pause(Math.min(MAX_RETRY_MS, 100 * 2 ** attempt))
      }
    }
  }

  async #list (): Promise<void> {
    const { backend, scope, decode } = this.#options
    const pairs: Array<[string, Entry]> = []
    const damaged = new Map<string, StorageError>()
    let { start, end } = rangeOf(scope)
    let revision: Revision | undefined
    for (;;) {
      const page = await backend.list({ start, end, limit: PAGE, ...(revision === undefined ? {} : { revision }) })
      revision ??= page.revision
      for (const kv of page.kvs) {
        try {
          pairs.push([kv.key, decode(kv, kv.modRevision)])
        } catch (error) {
          // One unreadable object must not hide the others.
          if (!isUnreadable(error)) throw error
          damaged.set(kv.key, error)
        }
        if (turnIsOver()) await nextTurn()
      }
      const last = page.kvs.at(-1)
      if (!page.more || last === undefined) break
      start = `${last.key}\0`
    }
    if (this.#closed) return
    for (const [key, damage] of damaged) {
      const what = damage.code === 'Corrupt' ? 'is damaged: it can be deleted and not read,' : 'cannot be decrypted:'
      if (this.#damaged.has(key)) continue
      this.#options.log(`the object ${key} ${what} lists that it belongs to fail, all others are served`, damage)
    }
    this.#damaged = damaged
    this.#leaveAll()
    this.#index.clear()
    for (const [key, entry] of pairs) {
      entry.enter(this.#forms)
      this.#index.change(key, undefined, entry)
    }
    this.#map = OrderedMap.fromSorted(pairs)
    this.#revision = this.#changed = revision
    this.#window = new EventWindow(revision, this.#options.windowSize)
    this.#pins.clear()
    await new Promise<void>((resolve, reject) => {
      this.#starting = { resolve, reject }
      this.#follow(revision)
    })
  }

  /**
   * Called once the watch has delivered everything written during the list; from now on the back end's newest revision
   * is valid for the map.
   */
  #markLoaded (): void {
    this.#loaded = true
    this.#options.observer?.loaded()
    this.#failure = undefined
    this.#failingSince = Infinity
    this.#starting?.resolve()
    this.#starting = undefined
    this.#wakeWaiters()
  }

  #follow (after: Revision): void {
    this.#watch = this.#options.backend.watch({
      ...rangeOf(this.#options.scope),
      after,
      previous: false,
      onEvents: (events, revision) => {
        try {
          this.#apply(events, revision)
        } catch (error) {
          this.#watch?.cancel()
          this.#restart(isStorageError(error)
            ? error
            : new StorageError('Corrupt', 'a change could not be applied', { cause: error }))
        }
      },
      onProgress: revision => {
        this.#progressRequestedAt = -Infinity
        this.#options.observer?.progressed()
        const advanced = revision > this.#revision
        if (advanced) this.#revision = revision
        if (!this.#loaded) this.#markLoaded()
        else if (advanced) this.#wakeWaiters() // without news, waiters request progress again
      },
      onEnd: error => { this.#restart(error) }
    })
    this.#watch.requestProgress()
  }

  /** Drops expired events of an idle type. */
  trim (): void { this.#window.trim(performance.now()) }

  #apply (events: BackendEvent[], revision: Revision): void {
    const now = performance.now()
    this.#options.observer?.changed(events.length)
    for (const event of events) {
      const made = this.#eventOf(event)
      if (made === undefined) continue
      this.#map = made.type === 'DELETED' ? this.#map.delete(event.kv.key) : this.#map.set(event.kv.key, made.entry)
      const present = made.type === 'DELETED' ? undefined : made.entry
      made.previous?.leave(this.#forms)
      present?.enter(this.#forms)
      this.#index.change(event.kv.key, made.previous, present)
      this.#changed = made.revision
      this.#subscribers.notify(event.kv.key, made.revision, this.#window.push(made, now))
    }
    if (revision > this.#revision) this.#revision = revision
    this.#pins.trim(this.#options.backend.compactedRevision(), this.#window)
    this.#wakeWaiters()
    this.#subscribers.wake()
  }

  #eventOf (event: BackendEvent): CacheEvent | undefined {
    const { kv } = event
    const previous = this.#map.get(kv.key)
    const revision = kv.modRevision
    // Watchers may know the object from before it was damaged, but its last state is unreadable, so they must list
    // again.
    if (this.#damaged.delete(kv.key) && event.type === 'delete') {
      throw new StorageError('Compacted', `the damaged object ${kv.key} was deleted`)
    }
    try {
      if (event.type === 'delete') {
        return previous === undefined ? undefined : new CacheEvent('DELETED', revision, previous.at(revision), previous)
      }
      return new CacheEvent(previous === undefined
        ? 'ADDED'
        : 'MODIFIED', revision, this.#pendingWrites.take(kv, revision) ?? this.#options.decode(kv, revision), previous)
    } catch (error) {
      throw new StorageError('Corrupt', `the stored value of ${kv.key} at revision ${revision} can't be decoded`, {
        key: kv.key, cause: error
      })
    }
  }

  /** The watch cannot continue without a gap: ends all subscribers and loads again. */
  #restart (error: StorageError): void {
    if (this.#closed) return
    if (this.#starting !== undefined) {
      this.#starting.reject(error)
      this.#starting = undefined
      return
    }
    this.#loaded = false
    this.#subscribers.end(new StorageError('Compacted', 'the history of changes was interrupted', { cause: error }))
    if (error.code === 'Closed') return
    this.#options.log(`the watch of ${this.#options.scope} ended, relisting`, error)
    this.#loading = this.#load()
  }

  #wakeWaiters (): void {
    if (this.#waiters.size === 0) return
    for (const wake of [...this.#waiters]) wake()
  }
}
