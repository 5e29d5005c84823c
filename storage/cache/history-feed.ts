/**
 * Events of a watch that starts before the window, or of a type without a cache: read from the back end's history. The
 * feed reads ahead up to a limit. With a cache it switches to the cache's window, without gaps or repeats, once the
 * window covers its position.
 */
import type { Backend, BackendEvent, BackendWatch, Revision } from '../backend.js'
import type { StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import { CacheEvent } from './event.js'
import type { Entry } from './entry.js'
import { NOTHING, cacheFeed, type Feed, type FeedBatch } from './feed.js'
import type { Subscriber } from './subscribers.js'
import type { WatchCache } from './watch-cache.js'

export interface HistoryOptions {
  readonly backend: Backend
  /** As in `cacheFeed`. */
  readonly scope: string
  readonly after: Revision
  readonly decode: (kv: BackendEvent['kv'], revision: Revision) => Entry
  readonly subscriber: Subscriber
  /** The cache to switch to. */
  readonly cache: WatchCache | undefined
}

/** Maximum bytes read ahead of the client. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

let takes = 0

const sizeOf = ({ kv, previous }: BackendEvent): number => kv.value.length + (previous?.value.length ?? 0)

export class HistoryFeed implements Feed {
  readonly #options: HistoryOptions
  /** Undefined while the read-ahead limit is reached, and after the end. */
  #watch: BackendWatch | undefined
  #pending: BackendEvent[] = []
  /** Index of the first pending event. */
  #head = 0
  #bytes = 0
  /** The back end has delivered everything up to this revision. */
  #reached: Revision
  #failure: StorageError | undefined
  #joined: Feed | undefined
  #waking = false
  #closed = false

  constructor (options: HistoryOptions) {
    this.#options = options
    this.#reached = options.after
    this.#follow()
  }

  take (most: number, bytes = Infinity): FeedBatch {
    if (this.#joined !== undefined) return this.#joined.take(most, bytes)
    if (this.#head === this.#pending.length) {
      if (this.#failure !== undefined) throw this.#failure
      return NOTHING
    }
    const { decode } = this.#options
    const events: CacheEvent[] = []
    let taken = 0
    while (this.#head < this.#pending.length && events.length < most && taken < bytes) {
      const event = this.#pending[this.#head++] as BackendEvent // below the length
      this.#bytes -= sizeOf(event)
      const cacheEvent = eventOf(event, decode)
      if (cacheEvent === undefined) continue
      events.push(cacheEvent)
      taken += cacheEvent.entry.bytes
    }
    if (this.#head < this.#pending.length) return { events, id: `history/${++takes}`, more: true }
    this.#pending = []
    this.#head = 0
    if (this.#failure === undefined && !this.#join() && this.#watch === undefined) this.#follow()
    return { events, id: `history/${++takes}`, more: false }
  }

  revision (): Revision | undefined {
    if (this.#joined !== undefined) return this.#joined.revision()
    if (this.#pending.length > 0) return undefined
    this.#watch?.requestProgress() // for the next call
    return this.#reached
  }

  close (): void {
    this.#closed = true
    this.#watch?.cancel()
    this.#joined?.close()
  }

  #follow (): void {
    const { backend, scope } = this.#options
    this.#watch = backend.watch({
      ...rangeOf(scope),
      after: this.#reached,
      onEvents: (events, revision) => {
        this.#reached = revision
        for (const event of events) {
          this.#pending.push(event)
          this.#bytes += sizeOf(event)
        }
        if (this.#bytes > MAX_PENDING_BYTES) {
          this.#watch?.cancel()
          this.#watch = undefined
        }
        if (this.#pending.length > 0) this.#wake()
        else this.#join()
      },
      onProgress: revision => {
        if (revision > this.#reached) this.#reached = revision
        if (this.#pending.length === 0) this.#join()
      },
      onEnd: error => {
        this.#failure = error
        this.#watch = undefined
        this.#options.subscriber.end(error)
      }
    })
    this.#watch.requestProgress()
  }

  /** Switches to the cache's window if it covers the position. Requires that no events are pending. */
  #join (): boolean {
    const { cache, scope, subscriber } = this.#options
    if (this.#joined !== undefined || this.#closed || cache?.loaded !== true || this.#reached < cache.window.since) {
      return false
    }
    this.#watch?.cancel()
    this.#watch = undefined
    this.#joined = cacheFeed(cache, this.#reached, scope, subscriber)
    if (this.#joined.revision() === undefined) this.#wake()
    return true
  }

  #wake (): void {
    if (this.#waking) return
    this.#waking = true
    setImmediate(() => {
      this.#waking = false
      if (!this.#closed) this.#options.subscriber.wake()
    })
  }
}

function eventOf ({ type, kv, previous }: BackendEvent, decode: HistoryOptions['decode']): CacheEvent | undefined {
  const before = previous === undefined ? undefined : decode(previous, previous.modRevision)
  const revision = kv.modRevision
  if (type === 'put') {
    return new CacheEvent(kv.createRevision === revision ? 'ADDED' : 'MODIFIED', revision, decode(kv, revision), before)
  }
  return previous === undefined ? undefined : new CacheEvent('DELETED', revision, decode(previous, revision), before)
}
