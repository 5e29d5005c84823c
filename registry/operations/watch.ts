/**
 * WATCH: where to start is decided by resourceVersion, what to show by namespace and selectors. An
 * object that begins or ceases to match is shown as added or deleted, as the client's view of the
 * collection changes. (Interface: Watch, Resource version semantics.)
 */
import type { FieldSelectorMatcher, LabelSelectorMatcher } from '../../schemas/index.js'
import { expired } from '../../schemas/status.js'
import type { Backend, Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { CacheEvent, EventType } from '../../storage/cache/event.js'
import { cacheFeed } from '../../storage/cache/feed.js'
import type { Feed } from '../../storage/cache/feed.js'
import { HistoryFeed } from '../../storage/cache/history-feed.js'
import { OrderedMap } from '../../storage/cache/ordered-map.js'
import type { Subscriber } from '../../storage/cache/subscribers.js'
import type { Snapshot } from '../../storage/cache/watch-cache.js'
import { rangeOf } from '../../storage/key.js'
import type { ResourceStore } from '../resource-store.js'
import { freshness, parseRevision } from './get.js'
import { exactKey, list } from './list.js'

export interface WatchRequest {
  /** '' for all namespaces. */
  readonly namespace: string
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  readonly resourceVersion: string
  /** True for who can do without the objects that can't be shown: others are not told a state that is not whole. */
  readonly partial?: boolean
}

/** One event as this watch shows it. */
export interface VersionedEvent {
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
  /** True when every event of its feed is shown as it is: such watches share their bytes. */
  readonly everything: boolean
  readonly toVersion: (event: CacheEvent) => VersionedEvent | undefined
  readonly feed: Feed
}

/** For the client of a watch whose history is lost after its start. */
export const TOO_OLD = 'too old resource version: the changes since then are no longer kept; list again and watch from the version of that list'

/**
 * @param subscriber is told when the feed has something, or is over
 * @throws StatusError 400, 410; StorageError 'Unavailable', 'Corrupt' as `list`
 */
export async function watch (store: ResourceStore, request: WatchRequest, subscriber: Subscriber): Promise<ObjectWatch> {
  const { cache, backend } = store
  const { resourceVersion } = request
  const after = resourceVersion === '' ? 0 : parseRevision(resourceVersion)
  const scope = exactKey(store, request) ?? store.scope(request.namespace)
  const view = viewOf(store, scope, request)
  const history = (from: Revision): Feed => new HistoryFeed({ backend, scope, after: from, decode: (kv, revision) => store.decode(kv, revision), subscriber, cache })
  if (cache === undefined) {
    if (after === 0) {
      const initial = await snapshotOf(store, request)
      return opened(view, initial, history(initial.revision))
    }
    refuseOld(backend, after)
    return opened(view, undefined, history(after))
  }
  if (after === 0) {
    const wait = freshness(cache, resourceVersion)
    if (wait !== undefined) await wait
  }
  if (!cache.loaded) await cache.ready()
  if (after === 0) {
    const { start, end } = view.range
    if (request.partial !== true) cache.refuseDamage(start, end)
    const initial = cache.snapshot
    return opened(view, initial, cacheFeed(cache, initial.revision, scope, subscriber))
  }
  refuseOld(backend, after)
  return opened(view, undefined, after >= cache.window.since ? cacheFeed(cache, after, scope, subscriber) : history(after))
}

/** @throws StatusError 410 */
function refuseOld (backend: Backend, after: number): void {
  const oldest = backend.compactedRevision()
  if (after < oldest) throw expired(`too old resource version: ${after} (${oldest})`)
}

/** The newest state of what is asked for, read from the back end. */
async function snapshotOf (store: ResourceStore, request: WatchRequest): Promise<Snapshot> {
  const { revision, entries } = await list(store, { ...request, limit: 0, continue: '', resourceVersion: '', resourceVersionMatch: '' })
  return { revision, map: OrderedMap.fromSorted(entries.map(entry => [entry.key, entry])) }
}

type View = Omit<ObjectWatch, 'initial' | 'feed'>

/** Spelled out: an object made by spreading has a shape of its own, which costs a kilobyte and a slow look-up at each use. */
const opened = ({ range, wanted, everything, toVersion }: View, initial: Snapshot | undefined, feed: Feed): ObjectWatch =>
  ({ initial, range, wanted, everything, toVersion, feed })

function viewOf (store: ResourceStore, scope: string, { namespace, labels, fields }: WatchRequest): View {
  const { start } = store.range(namespace)
  const selects = !labels.empty || !fields.empty
  const wanted = (entry: Entry): boolean => !selects || (labels.matches(entry.labels) && (fields.empty || fields.matches(entry.fields)))
  const toVersion = (event: CacheEvent): VersionedEvent | undefined => {
    if (!event.entry.key.startsWith(start)) return undefined // a selector may name another namespace than the path
    if (!selects) return { type: event.type, event, last: false }
    const is = event.type !== 'DELETED' && wanted(event.entry)
    const unknown = event.previous === undefined && event.type !== 'ADDED'
    const was = unknown || (event.previous !== undefined && wanted(event.previous))
    if (is) return { type: was ? 'MODIFIED' : 'ADDED', event, last: false }
    if (!was) return undefined
    return { type: 'DELETED', event, last: event.type !== 'DELETED' }
  }
  return { range: rangeOf(scope), wanted, everything: !selects, toVersion }
}
