/**
 * Where a watcher's events come from. From the cache it is a cursor into the shared window: no queue of its own.
 * For a start the window no longer covers it is a watch of the back end's history, which keeps what the client has not
 * taken yet, within a bound.
 */
import type { Backend, BackendEvent, BackendWatch, Revision } from '../backend.js'
import { StorageError } from '../errors.js'
import { CacheEvent } from './event.js'
import type { Entry } from './entry.js'
import type { Subscriber, WatchCache } from './watch-cache.js'

export interface Feed {
  /**
   * Up to `most` events after the last ones taken, in order, [] when there are none now. The same array
   * may be given to other watchers: `id` is equal exactly when the events are.
   * @throws StorageError 'Compacted' when events were lost because they were not taken in time
   */
  take: (most: number) => { readonly events: readonly CacheEvent[], readonly id: string }
  /** Everything up to this revision was taken, or did not concern the watch. Undefined while events wait. */
  revision: () => Revision | undefined
  close: () => void
}

const NONE = { events: [], id: '' } as const

export function cacheFeed (cache: WatchCache, after: Revision, subscriber: Subscriber): Feed {
  let cursor = cache.window.firstAfter(after)
  const window = cache.window
  const unsubscribe = cache.subscribe(subscriber)
  return {
    take (most) {
      if (cursor >= window.end) return NONE
      if (cursor < window.begin) throw new StorageError('Compacted', 'the watch was too slow: the events it had not read are no longer kept')
      const from = cursor
      const events: CacheEvent[] = []
      while (cursor < window.end && events.length < most) {
        const event = window.at(cursor++) as CacheEvent // between begin and end
        if (event.revision > after) events.push(event)
      }
      return { events, id: `${window.serial}/${from}-${cursor}` }
    },
    revision: () => cursor >= window.end ? Math.max(cache.revision, after) : undefined,
    close: unsubscribe
  }
}

export interface HistoryOptions {
  readonly backend: Backend
  readonly start: string
  readonly end: string
  readonly after: Revision
  readonly decode: (kv: BackendEvent['kv'], revision: Revision) => Entry
  readonly subscriber: Subscriber
}

let runs = 0

const MOST_WAITING_BYTES = 64 * 1024 * 1024

export function historyFeed ({ backend, start, end, after, decode, subscriber }: HistoryOptions): Feed {
  let waiting: BackendEvent[] = []
  let bytes = 0
  let reached = after
  let failure: StorageError | undefined
  let waking = false
  const wake = (): void => {
    if (waking) return
    waking = true
    setImmediate(() => {
      waking = false
      subscriber.wake()
    })
  }
  const fail = (error: StorageError): void => {
    failure = error
    running.watch?.cancel()
    subscriber.end(error)
  }
  const running: { watch?: BackendWatch } = {} // a watch may end before `backend.watch` returns
  running.watch = backend.watch({
    start,
    end,
    after,
    onEvents (events, revision) {
      if (failure !== undefined) return
      for (const event of events) {
        waiting.push(event)
        bytes += event.kv.value.length + (event.previous?.value.length ?? 0)
      }
      reached = revision
      if (bytes > MOST_WAITING_BYTES) return fail(new StorageError('Compacted', 'the watch was too slow: too many events wait for it'))
      wake()
    },
    onProgress (revision) { if (revision > reached) reached = revision },
    onEnd: fail
  })
  return {
    take (most) {
      if (waiting.length === 0) {
        if (failure !== undefined) throw failure
        return NONE
      }
      const events: CacheEvent[] = []
      for (const event of waiting.slice(0, most)) {
        bytes -= event.kv.value.length + (event.previous?.value.length ?? 0)
        const made = eventOf(event, decode)
        if (made !== undefined) events.push(made)
      }
      waiting = waiting.slice(most)
      return { events, id: `history/${++runs}` }
    },
    revision: () => waiting.length > 0 ? undefined : Math.max(reached, backend.revisionNow() ?? 0),
    close: () => { running.watch?.cancel() }
  }
}

function eventOf ({ type, kv, previous }: BackendEvent, decode: HistoryOptions['decode']): CacheEvent | undefined {
  const before = previous === undefined ? undefined : decode(previous, previous.modRevision)
  const revision = kv.modRevision
  if (type === 'put') return new CacheEvent(kv.createRevision === revision ? 'ADDED' : 'MODIFIED', revision, decode(kv, revision), before)
  return previous === undefined ? undefined : new CacheEvent('DELETED', revision, decode(previous, revision), before)
}
