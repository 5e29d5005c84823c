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
  const { window } = cache
  const place = new Place(scope, after, subscriber)
  for (let number = window.firstAfter(after); number < window.end && place.first < 0; number++) {
    if (place.wants(keyAt(number))) place.first = number
  }
  cache.subscribe(place)

  function keyAt (number: number): string {
    return (window.at(number) as CacheEvent).entry.key // between begin and end
  }

  return {
    take (most, bytes = Infinity) {
      const from = place.first
      if (from < 0) return NOTHING
      if (from < window.begin) throw new StorageError('Compacted', 'the watch was too slow: the events it had not read are no longer kept')
      const events: CacheEvent[] = []
      let number = from
      let taken = 0
      for (; number < window.end && events.length < most && taken < bytes; number++) {
        const event = window.at(number) as CacheEvent // between begin and end
        if (!place.wants(event.entry.key)) continue
        events.push(event)
        taken += event.entry.json.length
      }
      const more = number < window.end
      place.first = more ? number : -1
      return { events, id: `${window.serial}/${scope}/${from}-${number}`, more }
    },
    revision: () => place.first < 0 ? Math.max(cache.revision, after) : undefined,
    close: () => { cache.unsubscribe(place) }
  }
}
