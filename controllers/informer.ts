/**
 * What is there of a type, and what changes: a list, then the events after it, and a new list where history was lost, be it
 * that the cache was loaded anew or that we were too slow. Handlers are told of objects by what is there now: an object
 * that changed twice meanwhile is told of once, and of one that went while nobody watched it is told that it is gone.
 */
import { NO_FIELDS, NO_LABELS } from '../schemas/index.js'
import type { Entry } from '../storage/cache/entry.js'
import type { Revision } from '../storage/backend.js'
import type { Feed } from '../storage/cache/feed.js'
import { isStorageError } from '../storage/errors.js'
import { current } from '../registry/operations/rewrite.js'
import { watch as watchStore } from '../registry/operations/watch.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { type Clock, systemClock } from '../storage/clock.js'

export interface ObjectName { readonly namespace: string, readonly name: string }

export interface Handler {
  /** It is there: at the start, when it has changed, when it is looked at again. */
  readonly changed: (entry: Entry) => void
  /** It is gone. Who asks for this costs the names of all there are. */
  readonly deleted?: (name: ObjectName) => void
  /** It was seen to go, which costs nothing; of what went while history was lost only `relisted` tells. */
  readonly removed?: (name: ObjectName) => void
  /** Everything there is has been told of anew. */
  readonly relisted?: () => void
}

export interface InformerOptions {
  readonly store: ResourceStore
  readonly handlers: readonly Handler[]
  readonly log: (message: string, error: unknown) => void
  /** Milliseconds until the next attempt where a list failed. Default 1000. */
  readonly retry?: number
  /** Milliseconds between looks at everything there is, changed or not. Default 0, never. */
  readonly resync?: number
  readonly clock?: Clock
  /** For tests. */
  readonly watch?: typeof watchStore
}

/** The newest state of all there is. */
const EVERYTHING = { namespace: '', labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', partial: true }
const PAGE = 1000
const REACH_MS = 3000

export class Informer {
  readonly #options: InformerOptions
  readonly #clock: Clock
  /** By key; only where a handler wants to know of what is gone. */
  readonly #known: Map<string, ObjectName> | undefined
  #feed: Feed | undefined
  /** Of the feed whose subscriber may speak. */
  #run = 0
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
   * Resolves when the handlers were told of everything there is; from then on it goes on by itself.
   * @throws StorageError, StatusError when the list fails; it may be started again
   */
  async start (): Promise<void> {
    await this.#follow()
    this.#scheduleResync()
  }

  /** Tells at once of what has come since. */
  catchUp (): void { this.#takeAll() }

  /**
   * Resolves when handlers were told of everything up to a revision at which something was written, or when that has not
   * come to pass in time: a store that gives no events holds nobody up for ever.
   */
  async reach (revision: Revision, waitMs = REACH_MS): Promise<void> {
    const until = this.#clock.elapsed() + waitMs
    for (;;) {
      this.#takeAll()
      const left = until - this.#clock.elapsed()
      if (this.#closed || left <= 0 || (this.#feed?.revision() ?? -1) >= revision) return
      await new Promise<void>(resolve => {
        const cancel = this.#clock.after(left, done)
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

  /** Tells of one object whatever is there now. @throws StorageError as a read does */
  async resync ({ namespace, name }: ObjectName): Promise<void> {
    const { store } = this.#options
    const key = store.key(namespace, name)
    const entry = await current(store, key)
    if (this.#closed) return
    if (entry !== undefined) this.#onPresent(entry)
    else this.#onDeleted(key, { namespace, name })
  }

  close (): void {
    this.#closed = true
    this.#run++
    this.#cancelRetry?.()
    this.#cancelResync?.()
    this.#feed?.close()
    this.#wake()
  }

  async #follow (): Promise<void> {
    const run = ++this.#run
    const relisted = this.#listed
    this.#feed?.close()
    this.#feed = undefined
    const { initial, feed, range } = await (this.#options.watch ?? watchStore)(this.#options.store, EVERYTHING, {
      wake: () => {
        if (run !== this.#run) return
        this.#takeAll()
        this.#wake()
      },
      end: error => {
        if (run === this.#run && error.code !== 'Closed') this.#again()
      }
    })
    if (run !== this.#run) return feed.close()
    this.#feed = feed
    this.#listed = true
    const seen = this.#known === undefined ? undefined : new Set<string>()
    initial?.map.forEach(range.start, range.end, (entry, key) => {
      seen?.add(key)
      this.#onPresent(entry)
      return true
    })
    if (seen !== undefined) for (const [key, name] of [...this.#known ?? []]) if (!seen.has(key)) this.#onDeleted(key, name)
    if (relisted) for (const { relisted } of this.#options.handlers) if (relisted !== undefined) this.#callHandler(relisted)
    // It may have been woken before it was there.
    this.#takeAll()
    this.#wake()
  }

  #wake (): void { for (const done of [...this.#waiting]) done() }

  /** From a new list, after a moment: whatever ended the last one may last. */
  #again (): void {
    if (this.#closed) return
    this.#cancelRetry?.()
    this.#cancelRetry = this.#clock.after(this.#options.retry ?? 1000, () => {
      this.#follow().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.#again()
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
      if (!isStorageError(error, 'Compacted')) this.#options.log(`the watch of ${this.#options.store.type.plural} failed, relisting`, error)
      this.#run++
      this.#again()
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

  /** A handler that throws is a defect of its own, and harms no other. */
  #callHandler (tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.#options.log(`a handler of ${this.#options.store.type.plural} failed`, error)
    }
  }

  #scheduleResync (): void {
    const { resync = 0 } = this.#options
    if (resync <= 0 || this.#closed) return
    this.#cancelResync?.()
    this.#cancelResync = this.#clock.after(resync, () => {
      this.#follow().catch((error: unknown) => { if (!isStorageError(error, 'Closed')) this.#again() })
      this.#scheduleResync()
    })
  }
}

const nameOf = ({ name, fields }: Entry): ObjectName => ({ namespace: fields[1] ?? '', name })
