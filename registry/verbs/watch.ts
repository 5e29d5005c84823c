/**
 * WATCH: resourceVersion and sendInitialEvents decide the start; namespace and selectors decide which objects to send.
 * An object that starts or stops matching is sent as added or deleted. (Interface: Watch, Resource version semantics.)
 */
import { NO_FIELDS, type FieldSelectorMatcher } from '../../schemas/selectors/fields.js'
import { NO_LABELS, type LabelSelectorMatcher } from '../../schemas/selectors/labels.js'
import { expired, futureVersion, isStatusError, type StatusError } from '../../schemas/status.js'
import type { Backend, Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { CacheEvent, EventType } from '../../storage/cache/event.js'
import { cacheFeed, failedFeed, type Feed } from '../../storage/cache/feed.js'
import { HistoryFeed } from '../../storage/cache/history-feed.js'
import { OrderedMap } from '../../storage/cache/ordered-map.js'
import type { Subscriber } from '../../storage/cache/subscribers.js'
import type { Snapshot } from '../../storage/cache/pins.js'
import { isStorageError } from '../../storage/errors.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import { rangeOf } from '../../storage/key.js'
import type { ResourceStore } from '../resource-store.js'
import { waitForResourceVersion, parseRevision } from './get.js'
import type { MayReadFrom } from './former-namespace.js'
import { list } from './list.js'
import { exactKey, fewKeys, keysWithin } from './selected-keys.js'

export interface WatchRequest {
  /** '' for all namespaces. */
  readonly namespace: string
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  readonly resourceVersion: string
  /** Whether it begins with the state; undefined if the version decides: it does from none and from 0. */
  readonly sendInitialEvents?: boolean | undefined
  /** Whether a version that is no longer kept is an error of the feed. Default: as the release has it. */
  readonly refusesInStream?: boolean
  /** True for watchers that accept an initial state without unreadable objects; others get an error. */
  readonly partial?: boolean
}

/** All objects of a type that can be read, and their changes. */
export const EVERY_READABLE: WatchRequest = {
  namespace: '', labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', partial: true
}

/** An event as this watch sends it. */
export interface VersionedEvent {
  readonly type: EventType
  readonly event: CacheEvent
  /** True if the object is the last matching state instead of the event's own. */
  readonly last: boolean
}

export interface ObjectWatch {
  /** Initial state to send as ADDED events; undefined if the client wants only changes. */
  readonly initial: Snapshot | undefined
  readonly range: { readonly start: string, readonly end: string }
  readonly matches: (entry: Entry) => boolean
  /** True if every event of the feed is sent unchanged, so that watches share the encoded bytes. */
  readonly everything: boolean
  readonly toVersion: (event: CacheEvent) => VersionedEvent | undefined
  readonly feed: Feed
}

/** Sent when the history after the start of a watch has been compacted. */
export const TOO_OLD =
  'too old resource version: the changes since then are no longer kept; list again and watch from the version of ' +
    'that list'

/**
 * @param subscriber is notified when the feed has events or ends
 * @param mayReadFrom as in `list`
 * @throws StatusError 400, 410; StorageError 'Unavailable', 'Corrupt' as `list`. With `sendInitialEvents` the feed
 * fails if its version is too old or too new; with `refusesInStream`, and in later releases that of every watch, if it
 * is too old
 */
export async function watch (
  store: ResourceStore, request: WatchRequest, subscriber: Subscriber, mayReadFrom?: MayReadFrom
): Promise<ObjectWatch> {
  const scope = exactKey(store, request) ?? store.keys.scope(request.namespace)
  const watched = watchedObjects(store, scope, request)
  subscriber.selected = store.cache?.selectedBy(request.fields.required)
  try {
    const { after, initial } = await beginning(store, request, watched.range, mayReadFrom)
    return makeWatch(watched, initial, feedAfter(store, after, scope, subscriber))
  } catch (error) {
    const refusal = isStorageError(error, 'FutureRevision') ? futureVersion(error.message) : error
    const isInStream = request.refusesInStream === true || request.sendInitialEvents !== undefined ||
      store.gates.enabled('WatchRefusesInStream')
    if (!isInStream || !isStartRefused(refusal)) throw error
    return makeWatch(watched, undefined, failedFeed(refusal))
  }
}

const isStartRefused = (error: unknown): error is StatusError =>
  isStatusError(error, 'Expired') || isStatusError(error, 'Timeout')

interface Beginning { readonly after: Revision, readonly initial: Snapshot | undefined }

/** The state that a watch begins with, if it asks for that, and the version whose changes follow. */
async function beginning (
  store: ResourceStore, request: WatchRequest, range: ObjectWatch['range'], mayReadFrom: MayReadFrom | undefined
): Promise<Beginning> {
  const { cache, backend } = store
  const { resourceVersion, partial } = request
  const asked = resourceVersion === '' ? 0 : parseRevision(resourceVersion)
  const { sendInitialEvents = asked === 0 } = request
  if (asked !== 0 && !sendInitialEvents) {
    if (mayReadFrom !== undefined && !await mayReadFrom(asked)) throw expired(TOO_OLD)
    if (cache !== undefined && !cache.loaded) await cache.ready()
    refuseExpired(backend, asked)
    return { after: asked, initial: undefined }
  }
  if (cache === undefined) {
    if (!sendInitialEvents) return { after: await backend.revision(), initial: undefined }
    const initial = await snapshotOf(store, request)
    return { after: initial.revision, initial }
  }
  const wait = waitForResourceVersion(cache, resourceVersion)
  if (wait !== undefined) await wait
  if (!cache.loaded) await cache.ready()
  if (sendInitialEvents && partial !== true) cache.refuseDamage(range.start, range.end)
  const { snapshot } = cache
  const initial = sendInitialEvents ? selected(cache, snapshot, request, range) : undefined
  return { after: snapshot.revision, initial }
}

/** A state of the objects alone that an index finds, if they are few. */
function selected (
  cache: WatchCache, snapshot: Snapshot, { fields }: WatchRequest, { start, end }: ObjectWatch['range']
): Snapshot {
  const keys = fields.empty ? undefined : fewKeys(cache, snapshot, fields)
  if (keys === undefined) return snapshot
  const pairs = keysWithin(keys, start, end).flatMap(key => {
    const entry = snapshot.map.get(key)
    return entry === undefined ? [] : [[key, entry] as const]
  })
  return { revision: snapshot.revision, map: OrderedMap.fromSorted(pairs) }
}

function feedAfter (store: ResourceStore, after: Revision, scope: string, subscriber: Subscriber): Feed {
  const { cache, backend } = store
  if (cache !== undefined && after >= cache.window.since) return cacheFeed(cache, after, scope, subscriber)
  return new HistoryFeed({
    backend, scope, after, decode: (kv, revision) => store.entries.decode(kv, revision), subscriber, cache
  })
}

/** @throws StatusError 410 */
function refuseExpired (backend: Backend, after: number): void {
  const oldest = backend.compactedRevision()
  if (after < oldest) throw expired(`too old resource version: ${after} (${oldest})`)
}

/** Reads the newest state from the back end, once it has the version. */
async function snapshotOf (store: ResourceStore, request: WatchRequest): Promise<Snapshot> {
  const { revision, entries } = await list(store, {
    ...request, limit: 0, continue: '', resourceVersionMatch: ''
  })
  return { revision, map: OrderedMap.fromSorted(entries.map(entry => [entry.key, entry])) }
}

type WatchedObjects = Omit<ObjectWatch, 'initial' | 'feed'>

/**
 * No object spread: it would create a hidden class of a kilobyte for each watch.
 * Benchmark: `npm run bench -- memory`, 'memory of an idle watch of many, HTTP/2'.
 */
const makeWatch = (
  { range, matches, everything, toVersion }: WatchedObjects, initial: Snapshot | undefined, feed: Feed
): ObjectWatch =>
  ({ initial, range, matches, everything, toVersion, feed })

function watchedObjects (
  store: ResourceStore, scope: string, { namespace, labels, fields }: WatchRequest
): WatchedObjects {
  const { start } = store.keys.range(namespace)
  const selects = !labels.empty || !fields.empty
  const matches = (entry: Entry): boolean => !selects ||
    (labels.matches(entry.labels) && (fields.empty || fields.matches(entry.fields)))
  const toVersion = (event: CacheEvent): VersionedEvent | undefined => {
    if (!event.entry.key.startsWith(start)) return undefined // a selector may name a namespace other than the path's
    if (!selects) return { type: event.type, event, last: false }
    const matchesNow = event.type !== 'DELETED' && matches(event.entry)
    const previousUnknown = event.previous === undefined && event.type !== 'ADDED'
    const matchedBefore = previousUnknown || (event.previous !== undefined && matches(event.previous))
    if (matchesNow) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', event, last: false }
    if (!matchedBefore) return undefined
    return { type: 'DELETED', event, last: event.type !== 'DELETED' }
  }
  return { range: rangeOf(scope), matches, everything: !selects, toVersion }
}
