/**
 * Keeps the state of a watch cache current: lists the objects, then follows the watch of the back end. If that ends, it
 * begins again; nothing but closing ends it.
 */
import type { Backend, BackendEvent, BackendWatch, Revision } from '../backend.js'
import { isStorageError, StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import type { StoreObserver } from '../observer.js'
import { listAll } from './listing.js'
import { CacheState, type StateOptions } from './state.js'
import { Subscribers } from './subscribers.js'
import { Waiters } from './waiters.js'

export interface FollowerOptions extends StateOptions {
  readonly backend: Backend
  readonly observer?: Pick<StoreObserver, 'changed' | 'loaded' | 'progressed'> | undefined
  readonly log: (message: string, error: unknown) => void
}

/** Milliseconds between requests for progress, and looks at what it brought. */
export const POLL_MS = 25
/** Maximum delay between attempts to load. */
const MAX_RETRY_MS = 1000

export class Follower {
  readonly #options: FollowerOptions
  readonly state: CacheState
  readonly subscribers: Subscribers
  /** Woken by whatever changes below. */
  readonly waiters = new Waiters()
  loaded = false
  closed = false
  /** Why loading fails, and since when. */
  failure: unknown
  failingSince = Infinity
  #revision: Revision = 0
  #watch: BackendWatch | undefined
  #loading: Promise<void> | undefined
  /** The initial watch, until it has caught up with the list. */
  #starting: { readonly resolve: () => void, readonly reject: (error: StorageError) => void } | undefined
  /** When progress was requested, reset by the response. */
  #progressRequestedAt = -Infinity

  constructor (options: FollowerOptions) {
    this.#options = options
    this.state = new CacheState(options)
    this.subscribers = new Subscribers(options.scope)
  }

  /** Loads once; later calls share the first. Retries until it succeeds or the cache is closed. */
  open (): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** @param reason the error for its watches */
  close (reason: StorageError): void {
    this.closed = true
    this.#watch?.cancel()
    this.#starting?.resolve()
    this.subscribers.end(reason)
    this.state.leave()
    this.waiters.wake()
  }

  /** The revision of the map: it contains every event in the range up to it. */
  get revision (): Revision {
    const { backend } = this.#options
    const now = !this.loaded
      ? undefined
      : backend.delivered === undefined
        ? backend.revisionNow()
        : backend.delivered()
    return now !== undefined && now > this.#revision ? now : this.#revision
  }

  /** Requests progress, one at a time: more responses would queue up ahead of events. */
  requestProgress (): void {
    const now = performance.now()
    if (now - this.#progressRequestedAt < POLL_MS - 1) return // timers may fire slightly early
    this.#progressRequestedAt = now
    this.#watch?.requestProgress()
  }

  async #load (): Promise<void> {
    for (let attempt = 0; !this.closed; attempt++) {
      try {
        await this.#list()
        return
      } catch (error) {
        if (this.closed || isStorageError(error, 'Closed')) return
        if (attempt === 0) this.#options.log(`listing ${this.#options.scope} failed, retrying until it succeeds`, error)
        this.failure = error
        if (this.failingSince === Infinity) this.failingSince = performance.now()
        this.waiters.wake()
        await this.waiters.pause(Math.min(MAX_RETRY_MS, 100 * 2 ** attempt))
      }
    }
  }

  async #list (): Promise<void> {
    const { log } = this.#options
    const listed = await listAll(this.#options)
    if (this.closed) return
    for (const [key, damage] of listed.damaged) {
      const what = damage.code === 'Corrupt' ? 'is damaged: it can be deleted and not read,' : 'cannot be decrypted:'
      if (this.state.isDamaged(key)) continue
      log(`the object ${key} ${what} lists that it belongs to fail, all others are served`, damage)
    }
    this.state.reset(listed)
    const { revision } = listed
    this.#revision = revision
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
    this.loaded = true
    this.#options.observer?.loaded()
    this.failure = undefined
    this.failingSince = Infinity
    this.#starting?.resolve()
    this.#starting = undefined
    this.waiters.wake()
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
        if (!this.loaded) this.#markLoaded()
        else if (advanced) this.waiters.wake() // without news, waiters request progress again
      },
      onEnd: error => { this.#restart(error) }
    })
    this.#watch.requestProgress()
  }

  #apply (events: BackendEvent[], revision: Revision): void {
    const now = performance.now()
    this.#options.observer?.changed(events.length)
    for (const event of events) {
      const number = this.state.change(event, now)
      if (number === undefined) continue
      this.subscribers.notify(event.kv.key, event.kv.modRevision, number, this.state.window)
    }
    if (revision > this.#revision) this.#revision = revision
    this.state.trimPins(this.#options.backend.compactedRevision())
    this.waiters.wake()
    this.subscribers.wake()
  }

  /** The watch cannot continue without a gap: ends all subscribers and loads again. */
  #restart (error: StorageError): void {
    if (this.closed) return
    if (this.#starting !== undefined) {
      this.#starting.reject(error)
      this.#starting = undefined
      return
    }
    this.loaded = false
    this.subscribers.end(new StorageError('Compacted', 'the history of changes was interrupted', { cause: error }))
    if (error.code === 'Closed') return
    this.#options.log(`the watch of ${this.#options.scope} ended, relisting`, error)
    this.#loading = this.#load()
  }
}
