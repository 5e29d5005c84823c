/**
 * Follows the objects of a type: a list, then its events, and a new list after history was lost because the cache
 * reloaded or the informer was too slow. Handlers receive current states: two changes in between result in one call,
 * and deletions missed during a gap are reported after the new list.
 */
import type { Entry } from '../storage/cache/entry.js'
import type { Revision } from '../storage/backend.js'
import type { Feed } from '../storage/cache/feed.js'
import { isStorageError } from '../storage/errors.js'
import { current } from '../registry/current.js'
import { EVERY_READABLE, watch as watchStore } from '../registry/verbs/watch.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { type Clock, systemClock } from '../event-loop/clock.js'

export interface ObjectName { readonly namespace: string, readonly name: string }

export interface Handler {
  /** The object exists: called at start-up, after changes and on resync. */
  readonly changed: (entry: Entry) => void
  /** The object was deleted. Requires the names of all objects in memory. */
  readonly deleted?: (name: ObjectName) => void
  /** A deletion event arrived; costs no memory. Deletions during a gap cause only a call of `relisted`. */
  readonly removed?: (name: ObjectName) => void
  /** All existing objects were reported again. */
  readonly relisted?: () => void
}

export interface InformerOptions {
  readonly store: ResourceStore
  readonly handlers: readonly Handler[]
  readonly log: (message: string, error: unknown) => void
  /** Milliseconds before a failed list is retried. Default 1000. */
  readonly retry?: number
  /** Milliseconds between resyncs of all objects, changed or not. Default 0, never. */
  readonly resync?: number
  readonly clock?: Clock
  /** For tests. */
  readonly watch?: typeof watchStore
}

const PAGE = 1000
const REACH_MS = 3000

export class Informer {
  readonly #options: InformerOptions
  readonly #clock: Clock
  /** By key; only if a handler needs deletions. */
  readonly #known: Map<string, ObjectName> | undefined
  #feed: Feed | undefined
  /** The feed's generation; earlier subscribers are ignored. */
  #generation = 0
  #listed = false
  #closed = false
  readonly #waiting = new Set<() => void>()
  #cancelRetry: (() => void) | undefined
  #cancelResync: (() => void) | undefined

  constructor (options: InformerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#known = options.handlers.some(({ deleted }) => deleted !== undefined) ? new Map() : undefined
  }

  /**
   * Resolves when the handlers have received all existing objects; the informer then continues by itself.
   * @throws StorageError, StatusError if the list fails; it may be started again
   */
  async start (): Promise<void> {
    await this.#follow()
    this.#scheduleResync()
  }

  /** Delivers pending events now. */
  catchUp (): void { this.#takeAll() }

  /**
   * Resolves when the handlers have received everything up to the revision of a write, or after a timeout: a store
   * without events must not block callers forever.
   */
  async reach (revision: Revision, waitMs = REACH_MS): Promise<void> {
    const until = this.#clock.elapsed() + waitMs
    for (;;) {
      this.#takeAll()
      const remaining = until - this.#clock.elapsed()
      if (this.#closed || remaining <= 0 || (this.#feed?.revision() ?? -1) >= revision) return
      await new Promise<void>(resolve => {
        const cancel = this.#clock.after(remaining, done)
        const waiting = this.#waiting
        function done (): void {
          cancel()
          waiting.delete(done)
          resolve()
        }
        waiting.add(done)
      })
    }
  }

  /** Reports the current state of one object. @throws StorageError as a read does */
  async resync ({ namespace, name }: ObjectName): Promise<void> {
    const { store } = this.#options
    const key = store.keys.of(namespace, name)
    const entry = await current(store, key)
    if (this.#closed) return
    if (entry !== undefined) this.#onPresent(entry)
    else this.#onDeleted(key, { namespace, name })
  }

  close (): void {
    this.#closed = true
    this.#generation++
    this.#cancelRetry?.()
    this.#cancelResync?.()
    this.#feed?.close()
    this.#wakeWaiters()
  }

  async #follow (): Promise<void> {
    const generation = ++this.#generation
    const relisted = this.#listed
    this.#feed?.close()
    this.#feed = undefined
    const { initial, feed, range } = await (this.#options.watch ?? watchStore)(this.#options.store, EVERY_READABLE, {
      wake: () => {
        if (generation !== this.#generation) return
        this.#takeAll()
        this.#wakeWaiters()
      },
      end: error => {
        if (generation === this.#generation && error.code !== 'Closed') this.#scheduleRelist()
      }
    })
    if (generation !== this.#generation) return feed.close()
    this.#feed = feed
    this.#listed = true
    const seen = this.#known === undefined ? undefined : new Set<string>()
    initial?.map.forEach(range.start, range.end, (entry, key) => {
      seen?.add(key)
      this.#onPresent(entry)
      return true
    })
    if (seen !== undefined) {
      for (const [key, name] of [...this.#known ?? []]) if (!seen.has(key)) this.#onDeleted(key, name)
    }
    if (relisted) {
      for (const { relisted } of this.#options.handlers) if (relisted !== undefined) this.#callHandler(relisted)
    }
    // Events may have arrived during the list.
    this.#takeAll()
    this.#wakeWaiters()
  }

  #wakeWaiters (): void { for (const done of [...this.#waiting]) done() }

  /** Lists again after a pause, as the cause may persist. */
  #scheduleRelist (): void {
    if (this.#closed) return
    this.#cancelRetry?.()
    this.#cancelRetry = this.#clock.after(this.#options.retry ?? 1000, () => {
      this.#follow().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.#scheduleRelist()
      })
    })
  }

  #takeAll (): void {
    const feed = this.#feed
    if (feed === undefined) return
    try {
      for (;;) {
        const { events, more } = feed.take(PAGE)
        for (const { type, entry } of events) {
          if (type === 'DELETED') this.#onDeleted(entry.key, nameOf(entry))
          else this.#onPresent(entry)
        }
        if (!more) return
      }
    } catch (error) {
      if (isStorageError(error, 'Closed')) return
      if (!isStorageError(error, 'Compacted')) {
        this.#options.log(`the watch of ${this.#options.store.type.plural} failed, relisting`, error)
      }
      this.#generation++
      this.#scheduleRelist()
    }
  }

  #onPresent (entry: Entry): void {
    this.#known?.set(entry.key, nameOf(entry))
    for (const { changed } of this.#options.handlers) this.#callHandler(() => { changed(entry) })
  }

  #onDeleted (key: string, name: ObjectName): void {
    this.#known?.delete(key)
    for (const { deleted, removed } of this.#options.handlers) {
      if (deleted !== undefined) this.#callHandler(() => { deleted(name) })
      if (removed !== undefined) this.#callHandler(() => { removed(name) })
    }
  }

  /** An error in one handler must not affect the others. */
  #callHandler (call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#options.log(`a handler of ${this.#options.store.type.plural} failed`, error)
    }
  }

  #scheduleResync (): void {
    const { resync = 0 } = this.#options
    if (resync <= 0 || this.#closed) return
    this.#cancelResync?.()
    this.#cancelResync = this.#clock.after(resync, () => {
      this.#follow().catch((error: unknown) => { if (!isStorageError(error, 'Closed')) this.#scheduleRelist() })
      this.#scheduleResync()
    })
  }
}

const nameOf = ({ name, fields }: Entry): ObjectName => ({ namespace: fields[1] ?? '', name })
