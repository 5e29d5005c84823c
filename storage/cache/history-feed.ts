/**
 * The events of a watch that starts further back than the window reaches, or of a type without a cache: read from
 * the back end's own change log. It reads ahead no further than a bound and goes on when that was taken; where there
 * is a cache it moves over to its window, without a gap or a repeat, as soon as the window covers what follows.
 */
import type { Backend, BackendEvent, BackendWatch, Revision } from '../backend.js'
import type { StorageError } from '../errors.js'
import { rangeOf } from '../key.js'
import { CacheEvent } from './event.js'
import type { Entry } from './entry.js'
import { cacheFeed, NOTHING } from './feed.js'
import type { Feed, Taken } from './feed.js'
import type { Subscriber } from './subscribers.js'
import type { WatchCache } from './watch-cache.js'

export interface HistoryOptions {
  readonly backend: Backend
  /** As in `cacheFeed`. */
  readonly scope: string
  readonly after: Revision
  readonly decode: (kv: BackendEvent['kv'], revision: Revision) => Entry
  readonly subscriber: Subscriber
  /** To go over to. */
  readonly cache: WatchCache | undefined
}

/** Read ahead of the client. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024

let runs = 0

const sizeOf = ({ kv, previous }: BackendEvent): number => kv.value.length + (previous?.value.length ?? 0)

export class HistoryFeed implements Feed {
  readonly #options: HistoryOptions
  /** Undefined while too much waits, and after the end. */
  #watch: BackendWatch | undefined
  #waiting: BackendEvent[] = []
  /** Index of the first that was not taken. */
  #head = 0
  #bytes = 0
  /** Everything up to here was given to us. */
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

  take (most: number, bytes = Infinity): Taken {
    if (this.#joined !== undefined) return this.#joined.take(most, bytes)
    if (this.#head === this.#waiting.length) {
      if (this.#failure !== undefined) throw this.#failure
      return NOTHING
    }
    const { decode } = this.#options
    const events: CacheEvent[] = []
    let taken = 0
    while (this.#head < this.#waiting.length && events.length < most && taken < bytes) {
      const event = this.#waiting[this.#head++] as BackendEvent // below the length
      this.#bytes -= sizeOf(event)
      const made = eventOf(event, decode)
      if (made === undefined) continue
      events.push(made)
      taken += made.entry.json.length
    }
    if (this.#head < this.#waiting.length) return { events, id: `history/${++runs}`, more: true }
    this.#waiting = []
    this.#head = 0
    if (this.#failure === undefined && !this.#join() && this.#watch === undefined) this.#follow()
    return { events, id: `history/${++runs}`, more: false }
  }

  revision (): Revision | undefined {
    if (this.#joined !== undefined) return this.#joined.revision()
    if (this.#waiting.length > 0) return undefined
    this.#watch?.requestProgress() // for the next time
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
          this.#waiting.push(event)
          this.#bytes += sizeOf(event)
        }
        if (this.#bytes > MOST_WAITING_BYTES) {
          this.#watch?.cancel()
          this.#watch = undefined
        }
        if (this.#waiting.length > 0) this.#wake()
        else this.#join()
      },
      onProgress: revision => {
        if (revision > this.#reached) this.#reached = revision
        if (this.#waiting.length === 0) this.#join()
      },
      onEnd: error => {
        this.#failure = error
        this.#watch = undefined
        this.#options.subscriber.end(error)
      }
    })
    this.#watch.requestProgress()
  }

  /** Goes over to the window if it covers what follows. Nothing waits. */
  #join (): boolean {
    const { cache, scope, subscriber } = this.#options
    if (this.#joined !== undefined || this.#closed || cache?.loaded !== true || this.#reached < cache.window.since) return false
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
  if (type === 'put') return new CacheEvent(kv.createRevision === revision ? 'ADDED' : 'MODIFIED', revision, decode(kv, revision), before)
  return previous === undefined ? undefined : new CacheEvent('DELETED', revision, decode(previous, revision), before)
}
