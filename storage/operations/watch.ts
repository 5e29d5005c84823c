/**
 * WATCH: where to start is decided by resourceVersion, what to show by namespace and selectors. An
 * object that begins or ceases to match is shown as added or deleted, as the client's view of the
 * collection changes. (Interface: Watch, Resource version semantics.)
 */
import type { FieldSelectorMatcher, LabelSelectorMatcher } from '../../schemas/index.js'
import { expired } from '../../schemas/status.js'
import type { Entry } from '../cache/entry.js'
import type { CacheEvent, EventType } from '../cache/event.js'
import { cacheFeed, historyFeed } from '../cache/feed.js'
import type { Feed } from '../cache/feed.js'
import type { Snapshot, Subscriber } from '../cache/watch-cache.js'
import type { ResourceStore } from '../resource-store.js'
import { freshness, parseRevision } from './get.js'

export interface WatchRequest {
  /** '' for all namespaces. */
  readonly namespace: string
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  readonly resourceVersion: string
}

/** One event as this watch shows it. */
export interface Shown {
  readonly type: EventType
  readonly event: CacheEvent
  /** True where the object shown is the last state that matched, not the event's own. */
  readonly last: boolean
}

export interface ObjectWatch {
  /** The state to begin with, as ADDED events of what matches; undefined when only changes are wanted. */
  readonly initial: Snapshot | undefined
  readonly range: { readonly start: string, readonly end: string }
  readonly wanted: (entry: Entry) => boolean
  /** True when every event of the resource is shown as it is: such watches share their bytes. */
  readonly everything: boolean
  readonly show: (event: CacheEvent) => Shown | undefined
  readonly feed: Feed
}

/** For the client of a watch whose history is lost, at its start or later. */
export const TOO_OLD = 'too old resource version: the changes since then are no longer kept; list again and watch from the version of that list'

/**
 * @param subscriber is told when the feed has something, or is over
 * @throws StatusError 400, 410; StorageError 'Unavailable'
 */
export async function watch (store: ResourceStore, request: WatchRequest, subscriber: Subscriber): Promise<ObjectWatch> {
  const { cache, backend } = store
  const { resourceVersion } = request
  const after = resourceVersion === '' ? 0 : parseRevision(resourceVersion)
  if (after === 0) {
    const wait = freshness(store, resourceVersion)
    if (wait !== undefined) await wait
  }
  if (!cache.loaded) await cache.ready()
  const view = viewOf(store, request)
  if (after === 0) {
    const initial = cache.snapshot
    return { ...view, initial, feed: cacheFeed(cache, initial.revision, subscriber) }
  }
  if (after < backend.compactedRevision()) throw expired(TOO_OLD)
  const feed = after >= cache.window.since
    ? cacheFeed(cache, after, subscriber)
    : historyFeed({ backend, ...view.range, after, decode: (kv, revision) => store.decode(kv, revision), subscriber })
  return { ...view, initial: undefined, feed }
}

function viewOf (store: ResourceStore, { namespace, labels, fields }: WatchRequest): Omit<ObjectWatch, 'initial' | 'feed'> {
  const range = store.range(namespace)
  const selects = !labels.empty || !fields.empty
  const wanted = (entry: Entry): boolean => !selects || (labels.matches(entry.labels) && (fields.empty || fields.matches(entry.fields)))
  const inRange = (key: string): boolean => key.startsWith(range.start)
  const show = (event: CacheEvent): Shown | undefined => {
    if (!inRange(event.entry.key)) return undefined
    if (!selects) return { type: event.type, event, last: false }
    const is = event.type !== 'DELETED' && wanted(event.entry)
    const unknown = event.previous === undefined && event.type !== 'ADDED'
    const was = unknown || (event.previous !== undefined && wanted(event.previous))
    if (is) return { type: was ? 'MODIFIED' : 'ADDED', event, last: false }
    if (!was) return undefined
    return { type: 'DELETED', event, last: event.type !== 'DELETED' }
  }
  const whole = !selects && range.start === store.range('').start
  return { range, wanted, everything: whole, show }
}
