/**
 * The event source of a watcher. A cache feed is a position in the shared window, without a queue of its own.
 * `history-feed.ts` serves starts that the window no longer covers.
 */
import type { Revision } from '../backend.js'
import { StorageError } from '../errors.js'
import type { CacheEvent } from './event.js'
import { Place, type Subscriber } from './subscribers.js'
import type { WatchCache } from './watch-cache.js'
import type { EventWindow } from './window.js'

export interface FeedBatch {
  readonly events: readonly CacheEvent[]
  /** Two results with the same id have the same events, so that encodings can be shared. '' if empty. */
  readonly id: string
  /** True if more events are available now. Otherwise the subscriber is woken when there are. */
  readonly more: boolean
}

export interface Feed {
  /**
   * Returns up to `max` events after the last ones taken, in order; fewer once their JSON reaches `bytes`.
   * @throws StorageError 'Compacted' if events were dropped before they were taken
   */
  take: (max: number, bytes?: number) => FeedBatch
  /** The feed has delivered everything relevant up to this revision. Undefined while events are pending. */
  revision: () => Revision | undefined
  close: () => void
}

export const NOTHING: FeedBatch = { events: [], id: '', more: false }

/** Of a watch that cannot begin: its client finds out in the stream. */
export const failedFeed = (error: Error): Feed =>
  ({ take: () => { throw error }, revision: () => undefined, close: () => {} })

/**
 * @param scope a path that ends in '/', for all keys below it, or one key
 * @param after a revision that the window covers, or a future one
 */
export function cacheFeed (cache: WatchCache, after: Revision, scope: string, subscriber: Subscriber): Feed {
  const feed = new CacheFeed(cache, after, scope, subscriber)
  cache.subscribe(feed)
  return feed
}

/** Extends the position, so that waking thousands of watchers touches one object each. */
class CacheFeed extends Place implements Feed {
  readonly #cache: WatchCache
  readonly #window: EventWindow

  constructor (cache: WatchCache, after: Revision, scope: string, subscriber: Subscriber) {
    super(scope, after, subscriber)
    this.#cache = cache
    const window = this.#window = cache.window
    for (let number = window.firstAfter(after); number < window.end && this.first < 0; number++) {
      if (this.wants((window.at(number) as CacheEvent).entry.key)) this.first = number // between begin and end
    }
  }

  take (max: number, bytes = Infinity): FeedBatch {
    const from = this.first
    if (from < 0) return NOTHING
    const window = this.#window
    if (from < window.begin) {
      throw new StorageError('Compacted', 'the watch was too slow: the events it had not read are no longer kept')
    }
    if (from === window.end - 1) {
      this.first = -1
      // The event after a partial take may be out of scope.
      const taken = newest(window, from)
      return this.wants((taken.events[0] as CacheEvent).entry.key) ? taken : NOTHING // exactly one event
    }
    const events: CacheEvent[] = []
    let number = from
    let taken = 0
    for (; number < window.end && events.length < max && taken < bytes; number++) {
      const event = window.at(number) as CacheEvent // between begin and end
      if (!this.wants(event.entry.key)) continue
      events.push(event)
      taken += event.entry.bytes
    }
    const more = number < window.end
    this.first = more ? number : -1
    return { events, id: `${window.serial}/${this.scope}/${from}-${number}`, more }
  }

  revision (): Revision | undefined {
    return this.first < 0 ? Math.max(this.#cache.revision, this.after) : undefined
  }

  close (): void { this.#cache.unsubscribe(this) }
}

/** The latest result of `newest`. */
let lastNewest: { readonly window: EventWindow, readonly number: number, readonly taken: FeedBatch } | undefined

/** The newest event alone, the usual case; all feeds that are up to date share the result. */
function newest (window: EventWindow, number: number): FeedBatch {
  if (lastNewest?.window !== window || lastNewest.number !== number) {
    // below the end
    lastNewest = {
      window, number,
      taken: { events: [window.at(number) as CacheEvent], id: `${window.serial}/${number}`, more: false }
    }
  }
  return lastNewest.taken
}
