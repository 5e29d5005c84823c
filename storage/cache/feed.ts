/**
 * Where a watcher's events come from. From the cache it is a place in the shared window: no queue of its own.
 * `history-feed.ts` is the other one, for a start that the window no longer covers.
 */
import type { Revision } from '../backend.js'
import { StorageError } from '../errors.js'
import type { CacheEvent } from './event.js'
import { Place } from './subscribers.js'
import type { Subscriber } from './subscribers.js'
import type { WatchCache } from './watch-cache.js'
import type { EventWindow } from './window.js'

export interface Taken {
  readonly events: readonly CacheEvent[]
  /** Equal exactly when the events are: the same may be given to other watchers. '' when there are none. */
  readonly id: string
  /** There are more to be taken now. Where not, the subscriber is woken when there are. */
  readonly more: boolean
}

export interface Feed {
  /**
   * Up to `most` events after the last ones taken, in order; fewer when the JSON of these has `bytes` or more.
   * @throws StorageError 'Compacted' when events were lost because they were not taken in time
   */
  take: (most: number, bytes?: number) => Taken
  /** Everything up to this revision was taken, or did not concern the watch. Undefined while events wait. */
  revision: () => Revision | undefined
  close: () => void
}

export const NOTHING: Taken = { events: [], id: '', more: false }

/**
 * @param scope all keys below a path that ends in '/', or one key
 * @param after a revision that the window still covers, or one to come
 */
export function cacheFeed (cache: WatchCache, after: Revision, scope: string, subscriber: Subscriber): Feed {
  const feed = new CacheFeed(cache, after, scope, subscriber)
  cache.subscribe(feed)
  return feed
}

/** The place itself: what an event wakes by the thousand is one object each, not a chain of them. */
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

  take (most: number, bytes = Infinity): Taken {
    const from = this.first
    if (from < 0) return NOTHING
    const window = this.#window
    if (from < window.begin) throw new StorageError('Compacted', 'the watch was too slow: the events it had not read are no longer kept')
    if (from === window.end - 1) {
      this.first = -1
      // Where a take has stopped, what comes next need not be wanted.
      const taken = newest(window, from)
      return this.wants((taken.events[0] as CacheEvent).entry.key) ? taken : NOTHING // there is one
    }
    const events: CacheEvent[] = []
    let number = from
    let taken = 0
    for (; number < window.end && events.length < most && taken < bytes; number++) {
      const event = window.at(number) as CacheEvent // between begin and end
      if (!this.wants(event.entry.key)) continue
      events.push(event)
      taken += event.entry.json.length
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

/** What all take who have taken everything before it. */
let last: { readonly window: EventWindow, readonly number: number, readonly taken: Taken } | undefined

/** The newest event alone, the usual case, which all who wait for it take in the same form. */
function newest (window: EventWindow, number: number): Taken {
  if (last?.window !== window || last.number !== number) {
    last = { window, number, taken: { events: [window.at(number) as CacheEvent], id: `${window.serial}/${number}`, more: false } } // below the end
  }
  return last.taken
}
