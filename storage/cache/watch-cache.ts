/**
 * All objects of one resource type in memory, ordered by key, kept up to date by one watch of the back
 * end, with a window of recent events for watchers. Reads from it are consistent: `fresh` first learns
 * the store's newest revision and waits until the cache has reached it.
 *
 * Snapshots are versions of a copy-on-write map. Those that a list handed out pages of are remembered
 * while the window still covers what has changed since; after that the back end answers at that revision.
 */
import type { Backend, BackendEvent, BackendWatch, KeyValue, Revision } from '../backend.js'
import { futureRevision, isStorageError, StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import { nextTurn, turnIsOver } from '../turns.js'
import { CacheEvent } from './event.js'
import type { Entry } from './entry.js'
import { Offers } from './offers.js'
import type { Offer } from './offers.js'
import { OrderedMap } from './ordered-map.js'
import { Pins } from './pins.js'
import type { Snapshot } from './pins.js'
import type { StoreObserver } from '../observer.js'
import { Subscribers } from './subscribers.js'
import type { Place } from './subscribers.js'
import { EventWindow } from './window.js'

export type { Snapshot } from './pins.js'

export interface WatchCacheOptions {
  readonly backend: Backend
  /** The path above all its keys. */
  readonly scope: string
  /** Bytes to entry; throws 'Corrupt'. `revision` is what the entry's resourceVersion will be. */
  readonly decode: (kv: KeyValue, revision: Revision) => Entry
  /** Events kept at least. */
  readonly windowSize: number
  readonly observer?: Pick<StoreObserver, 'changed' | 'loaded' | 'progressed'> | undefined
  readonly log: (message: string, error: unknown) => void
}

const PAGE = 1000
/** Events that are undone to show a past state. */
const MOST_UNDONE = 1000
/** Reads that name a revision the store has not reached wait this long. */
export const FUTURE_WAIT_MS = 3000
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
  /** Of the watch that follows a list, until it has caught up. */
  #starting: { readonly resolve: () => void, readonly reject: (error: StorageError) => void } | undefined
  readonly #offers = new Offers()
  readonly #pins = new Pins()
  /** Keys of objects that are there and can't be shown, with why; seldom any. */
  #damaged = new Map<string, StorageError>()
  /** The question for the newest revision that was asked last, and the cache having come so far. */
  #pendingRevision: Promise<Revision> | undefined
  #refreshed: Promise<void> | undefined
  #failure: unknown
  /** When loading began to fail. */
  #failingSince = Infinity
  /** When the watch was asked for its progress and has not answered since. */
  #progressAsked = -Infinity
  readonly #subscribers: Subscribers
  #waiters = new Set<() => void>()

  constructor (options: WatchCacheOptions) {
    this.#options = options
    this.#window = new EventWindow(0, options.windowSize)
    this.#subscribers = new Subscribers(options.scope)
  }

  /** Loads once; later calls share the first. Retried until it succeeds or the cache is closed. */
  open (): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  get loaded (): boolean { return this.#loaded }
  get size (): number { return this.#map.size }
  get window (): EventWindow { return this.#window }

  /** @param reason what its watches are told */
  close (reason = new StorageError('Closed', 'the server is closing')): void {
    this.#closed = true
    this.#watch?.cancel()
    this.#starting?.resolve()
    this.#subscribers.end(reason)
    this.#wakeWaiters()
  }

  /** The revision the map shows: nothing in the range happened after the newest event up to it. */
  get revision (): Revision {
    const now = this.#loaded ? this.#options.backend.revisionNow() : undefined
    return now !== undefined && now > this.#revision ? now : this.#revision
  }

  /** @throws StorageError 'Corrupt' when there is an object and it can't be shown */
  get (key: string): Entry | undefined {
    const entry = this.#map.get(key)
    if (entry !== undefined || this.#damaged.size === 0) return entry
    const damage = this.#damaged.get(key)
    if (damage !== undefined) throw damage
    return undefined
  }

  /** For who would show all of a range. @throws StorageError 'Corrupt' that names an object there which can't be shown */
  refuseDamage (start: string, end: string): void {
    for (const [key, damage] of this.#damaged) if (key >= start && key < end) throw damage
  }

  get snapshot (): Snapshot { return { revision: this.revision, map: this.#map } }

  /** Undefined when the map already shows every acknowledged write, else a promise of that. */
  fresh (): Promise<void> | undefined {
    const { backend } = this.#options
    if (this.#loaded && backend.revisionNow() !== undefined) return undefined
    // Whoever shares the question shares all that follows from its answer.
    const asked = backend.revision()
    if (asked !== this.#pendingRevision || this.#refreshed === undefined) {
      this.#pendingRevision = asked
      this.#refreshed = this.#refresh(asked)
    }
    return this.#refreshed
  }

  async #refresh (asked: Promise<Revision>): Promise<void> {
    const revision = await asked
    if (!this.#loaded) await this.ready()
    if (this.revision >= revision) return
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
    const until = performance.now() + LOAD_WAIT_MS
    while (!this.#loaded) {
      const left = Math.min(until, this.#failingSince + FAILING_WAIT_MS) - performance.now()
      if (left <= 0 || this.#closed) throw new StorageError('Unavailable', `the objects below ${this.#options.scope} are not loaded`, { cause: this.#failure })
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
    const until = performance.now() + waitMs
    while (this.revision < revision) {
      if (this.#closed) throw new StorageError('Closed', 'the server is closing')
      const left = until - performance.now()
      if (left <= 0) throw futureRevision(revision, this.revision)
      if (this.#options.backend.revisionNow() === undefined) this.#askProgress()
      await this.#pause(Math.min(POLL_MS, left))
    }
  }

  /** One question at a time, however many wait: answers would come behind each other, and events behind them. */
  #askProgress (): void {
    const now = performance.now()
    if (now - this.#progressAsked < POLL_MS - 1) return // a timer may come a little early
    this.#progressAsked = now
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

  /** The state at exactly that revision, if it is still known here. */
  snapshotAt (revision: Revision): Snapshot | undefined {
    if (revision > this.revision) return undefined
    if (revision >= this.#changed) return { revision, map: this.#map }
    return this.#pins.at(revision) ?? this.#before(revision)
  }

  /** The map as it was, by undoing what the window has seen since: as little as it costs to read a page from the back end. */
  #before (revision: Revision): Snapshot | undefined {
    const window = this.#window
    const first = revision < window.since ? window.begin : window.firstAfter(revision)
    if (revision < window.since || window.end - first > MOST_UNDONE) return undefined
    let map = this.#map
    for (let number = window.end - 1; number >= first; number--) {
      const { entry, previous } = window.at(number) as CacheEvent // between begin and end
      map = previous === undefined ? map.delete(entry.key) : map.set(entry.key, previous)
    }
    const snapshot = { revision, map }
    this.#pins.add(snapshot, window)
    return snapshot
  }

  /** Remembers a snapshot whose later pages somebody will ask for. */
  pin (snapshot: Snapshot): void { this.#pins.add(snapshot, this.#window) }

  /** Hands over the writer's own object before a write, so that its event need not be decoded. */
  offer (key: string, offer: Offer): void { this.#offers.add(key, offer) }

  subscribe (place: Place): void { this.#subscribers.add(place) }
  unsubscribe (place: Place): void { this.#subscribers.delete(place) }
  get subscribers (): number { return this.#subscribers.size }
  /** How many watches a change of a key, or of some key below a path that ends in '/', wakes. */
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
        await this.#pause(Math.min(MOST_RETRY_MS, 100 * 2 ** attempt))
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
          // One that can't be shown is no reason to withhold the others.
          if (!isStorageError(error, 'Corrupt')) throw error
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
      if (!this.#damaged.has(key)) this.#options.log(`the object ${key} is damaged: it can be deleted and not read, lists that it belongs to fail, all others are served`, damage)
    }
    this.#damaged = damaged
    this.#map = OrderedMap.fromSorted(pairs)
    this.#revision = this.#changed = revision
    this.#window = new EventWindow(revision, this.#options.windowSize)
    this.#pins.clear()
    await new Promise<void>((resolve, reject) => {
      this.#starting = { resolve, reject }
      this.#follow(revision)
    })
  }

  /** The watch has told of everything that was written while the list was read: from now on the back end's word on its newest revision counts. */
  #caughtUp (): void {
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
          this.#lost(isStorageError(error) ? error : new StorageError('Corrupt', 'a change could not be applied', { cause: error }))
        }
      },
      onProgress: revision => {
        this.#progressAsked = -Infinity
        this.#options.observer?.progressed()
        const further = revision > this.#revision
        if (further) this.#revision = revision
        if (!this.#loaded) this.#caughtUp()
        else if (further) this.#wakeWaiters() // for nothing new nobody is woken: waiters ask for progress again
      },
      onEnd: error => { this.#lost(error) }
    })
    this.#watch.requestProgress()
  }

  /** Lets go of events that are kept no longer, where none comes that would do so. */
  trim (): void { this.#window.trim(performance.now()) }

  #apply (events: BackendEvent[], revision: Revision): void {
    const now = performance.now()
    this.#options.observer?.changed(events.length)
    for (const event of events) {
      const made = this.#eventOf(event)
      if (made === undefined) continue
      this.#map = made.type === 'DELETED' ? this.#map.delete(event.kv.key) : this.#map.set(event.kv.key, made.entry)
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
    // Its watchers may know it from before it was damaged, and its last state can't be shown to them.
    if (this.#damaged.delete(kv.key) && event.type === 'delete') throw new StorageError('Compacted', `the damaged object ${kv.key} was deleted`)
    try {
      if (event.type === 'delete') {
        return previous === undefined ? undefined : new CacheEvent('DELETED', revision, previous.at(revision), previous)
      }
      return new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', revision, this.#offers.take(kv, revision) ?? this.#options.decode(kv, revision), previous)
    } catch (error) {
      throw new StorageError('Corrupt', `the stored value of ${kv.key} at revision ${revision} can't be decoded`, { key: kv.key, cause: error })
    }
  }

  /** The back end can't go on without a gap: everybody starts again from a new list. */
  #lost (error: StorageError): void {
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
