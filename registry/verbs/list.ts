/**
 * LIST: chooses the state to read from the interface's table, then reads pages from a cache snapshot or, without one,
 * from the back end's history. (Interface: List paging, Resource version semantics.)
 */
import { NO_FIELDS, type FieldSelectorMatcher } from '../../schemas/selectors/fields.js'
import { NO_LABELS, type LabelSelectorMatcher } from '../../schemas/selectors/labels.js'
import { badRequest, expired, StatusError } from '../../schemas/status.js'
import type { Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Snapshot } from '../../storage/cache/pins.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import { decodeToken, encodeToken, NEWEST } from './continue-token.js'
import type { MayReadFrom } from './former-namespace.js'
import { isStorageError } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { waitForResourceVersion, parseRevision, waitForRevision } from './get.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { quote } from '../../schemas/quote.js'

export interface ListRequest {
  /** '' for all namespaces. */
  readonly namespace: string
  readonly labels: LabelSelectorMatcher
  readonly fields: FieldSelectorMatcher
  /** 0 for no limit. */
  readonly limit: number
  readonly continue: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly signal?: AbortSignal
}

/** All objects of a type, of the newest state. */
export const EVERYTHING: ListRequest = {
  namespace: '', labels: NO_LABELS, fields: NO_FIELDS, resourceVersion: '', limit: 0, continue: '',
  resourceVersionMatch: ''
}

export interface ListResult {
  readonly revision: Revision
  readonly entries: Entry[]
  /** Entries that form whole leaves of the cache, with the index of their first. */
  readonly leaves?: ReadonlyArray<{ readonly at: number, readonly entries: readonly Entry[] }>
  /** '' on the last page. */
  readonly continue: string
  /** Undefined on the last page, and with selectors, where it is unknown. */
  readonly remaining: number | undefined
}

type State =
  | { readonly kind: 'newest', readonly from: string | undefined }
  | { readonly kind: 'notOlderThan', readonly revision: string, readonly from: undefined }
  | { readonly kind: 'exact', readonly revision: Revision, readonly from: string | undefined }

/** Items between two checks of the clock. */
const ITEMS_PER_CHECK = 512
const LEAVES_PER_CHECK = 16
const BACKEND_PAGE = 500
/** An index is of use if it finds at most one in as many entries, and at most this many. */
const FEW = 8
const MAX_FOUND = 10_000

const EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
    'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
    'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
    'deleted between the time the first chunk was returned and now may show up in the list.'
const TOO_OLD = 'The resourceVersion for the provided list is too old.'

/** The 410 contains a token to continue the list inconsistently, at the newest state. */
const tooOld = (from: string | undefined): StatusError =>
  from === undefined ? expired(TOO_OLD) : expired(EXPIRED, encodeToken({ revision: NEWEST, next: from }))

const FOREIGN_TOKEN = 'invalid continue token: it is none of this server; start the list again'

/**
 * Looks up the combination of parameters in the interface's table.
 * @throws StatusError 400 for invalid combinations
 */
function stateOf (
  { limit, continue: token, resourceVersion, resourceVersionMatch: match }: Pick<
    ListRequest, 'limit' | 'continue' | 'resourceVersion' | 'resourceVersionMatch'
  >
): State {
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw badRequest(
      `resourceVersionMatch: Unsupported value: ${quote(match)}: supported values: "Exact", "NotOlderThan", ""`
    )
  }
  if (match !== '' && resourceVersion === '') {
    throw badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided')
  }
  if (token !== '') {
    if (match !== '') throw badRequest('resourceVersionMatch is forbidden when continue is provided')
    const decoded = decodeToken(token)
    if (decoded === undefined) throw badRequest(FOREIGN_TOKEN)
    const { revision, next } = decoded
    if (resourceVersion !== '' && parseRevision(resourceVersion) !== 0 && parseRevision(resourceVersion) !== revision) {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return revision === NEWEST ? { kind: 'newest', from: next } : { kind: 'exact', revision, from: next }
  }
  if (resourceVersion === '') return { kind: 'newest', from: undefined }
  const revision = parseRevision(resourceVersion)
  if (match === 'Exact' && revision === 0) {
    throw badRequest('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  if (match === 'Exact' || (match === '' && limit > 0 && revision !== 0)) {
    return { kind: 'exact', revision, from: undefined }
  }
  return { kind: 'notOlderThan', revision: resourceVersion, from: undefined }
}

/**
 * @param mayReadFrom whether the reader may see a past state; otherwise it counts as expired. Default true
 * @throws StatusError 400, 410; StorageError 'FutureRevision', 'Unavailable', 'Corrupt' with the key of an unreadable
 * object
 */
export async function list (
  store: ResourceStore, request: ListRequest, mayReadFrom?: MayReadFrom
): Promise<ListResult> {
  const state = stateOf(request)
  const { cache, backend } = store
  if (state.kind !== 'exact') {
    const version = state.kind === 'newest' ? '' : state.revision
    if (cache === undefined) {
      await waitForRevision(backend, version === '' ? 0 : parseRevision(version))
      return await history(store, request, 0, state.from)
    }
    const wait = waitForResourceVersion(cache, version)
    if (wait !== undefined) await wait
    if (!cache.loaded) await cache.ready()
    return await page({ store, cache, request }, cache.snapshot, state.from)
  }
  await (cache === undefined ? waitForRevision(backend, state.revision) : cache.reach(state.revision))
  const known = cache?.snapshotAt(state.revision)
  if (state.revision < backend.compactedRevision()) throw tooOld(state.from)
  if (mayReadFrom !== undefined && !await mayReadFrom(state.revision)) throw tooOld(state.from)
  return cache !== undefined && known !== undefined
    ? await page({ store, cache, request }, known, state.from)
    : await history(store, request, state.revision, state.from)
}

/** Common to both sources: range, start key and filter. */
function selection (store: ResourceStore, request: ListRequest, from: string | undefined) {
  const { labels, fields } = request
  const { start, end } = store.keys.range(request.namespace === '' ? namespaceOf(store, fields) : request.namespace)
  const first = from === undefined ? start : start + from
  if (first < start || first >= end) throw badRequest(FOREIGN_TOKEN)
  const everything = labels.empty && fields.empty
  const matches = (entry: Entry): boolean => labels.matches(entry.labels) &&
    (fields.empty || fields.matches(entry.fields))
  return { start, end, first, everything, matches }
}

/** The only namespace whose objects a field selector selects; '' for all. */
const namespaceOf = ({ type }: ResourceStore, { exact }: FieldSelectorMatcher): string =>
  type.namespaced ? exact.get('metadata.namespace') ?? '' : ''

/** What a page has so far, and what it may have. */
interface Page {
  readonly end: string
  readonly limit: number
  readonly matches: (entry: Entry) => boolean
  readonly entries: Entry[]
  readonly leaves: Array<{ at: number, entries: readonly Entry[] }>
}

/** The keys that an index finds for fields that are selected, if they are few: all that match are among them. */
export function fewKeys (
  cache: WatchCache, snapshot: Snapshot, { required }: FieldSelectorMatcher
): ReadonlySet<string> | undefined {
  const keys = cache.keysWith(snapshot, required)
  return keys !== undefined && keys.size <= Math.min(MAX_FOUND, snapshot.map.size / FEW) ? keys : undefined
}

/** In order. */
export const keysWithin = (keys: ReadonlySet<string>, start: string, end: string): string[] =>
  [...keys].filter(key => key >= start && key < end).sort()

interface CachedList { readonly store: ResourceStore, readonly cache: WatchCache, readonly request: ListRequest }

async function page (
  { store, cache, request }: CachedList, snapshot: Snapshot, from: string | undefined
): Promise<ListResult> {
  const { start, end, first, everything, matches } = selection(store, request, from)
  const { map, revision } = snapshot
  const exact = exactKey(store, request)
  if (exact === undefined) cache.refuseDamage(first, end)
  else cache.get(exact)
  const limit = request.limit === 0 ? Infinity : request.limit
  const entries: Entry[] = []
  const leaves: Array<{ at: number, entries: readonly Entry[] }> = []
  let next: string | undefined = exact ?? first
  if (next !== first) {
    const entry = map.get(next)
    if (entry !== undefined && next >= first && matches(entry)) entries.push(entry)
    store.observer?.listedFromCache(entry === undefined ? 0 : 1, entries.length)
    return { revision, entries, continue: '', remaining: undefined }
  }
  const page = { end, limit, matches, entries, leaves }
  const few = everything ? undefined : fewKeys(cache, snapshot, request.fields)
  while (next !== undefined) {
    if (few !== undefined) next = collectFound(map, keysWithin(few, first, end), page)
    else next = everything ? collectAll(map, next, page) : collect(map, next, page)
    if (next !== undefined && entries.length < limit) await yieldTurn(request.signal)
    else break
  }
  const examined = everything ? entries.length : few?.size ?? map.count(first, next ?? end)
  store.observer?.listedFromCache(examined, entries.length)
  const more = next !== undefined && map.count(next, end) > 0
  if (!more || next === undefined) return { revision, entries, leaves, continue: '', remaining: undefined }
  cache.pin(snapshot)
  return {
    revision, entries, leaves, continue: encodeToken({ revision, next: next.slice(start.length) }),
    remaining: everything ? map.count(next, end) : undefined
  }
}

/** The only key that matches, for a field selector on the name in one namespace. */
export function exactKey (
  store: ResourceStore, { fields, namespace }: Pick<ListRequest, 'fields' | 'namespace'>
): string | undefined {
  const name = fields.exact.get('metadata.name')
  const within = namespace === '' ? fields.exact.get('metadata.namespace') : namespace
  if (name === undefined || name === '' || (store.type.namespaced && (within === undefined || within === ''))) {
    return undefined
  }
  return store.keys.of(within ?? '', name)
}

/**
 * Collects matching entries until the limit, the end of the range or the end of the turn. Returns the key to continue
 * at, undefined at the end.
 */
function collect (map: Snapshot['map'], from: string, { end, limit, matches, entries }: Page): string | undefined {
  let seen = 0
  let next: string | undefined
  map.forEach(from, end, (entry, key) => {
    if (matches(entry)) entries.push(entry)
    if (entries.length >= limit || (++seen % ITEMS_PER_CHECK === 0 && turnIsOver())) {
      next = `${key}\0`
      return false
    }
    return true
  })
  return next
}

/** As `collect`, without a filter and leaf by leaf. */
function collectAll (map: Snapshot['map'], from: string, { end, limit, entries, leaves }: Page): string | undefined {
  let seen = 0
  let next: string | undefined
  map.forEachRun(from, end, ({ keys, values, from: first, to }) => {
    const last = Math.min(to, first + limit - entries.length)
    if (first === 0 && last === values.length) leaves.push({ at: entries.length, entries: values })
    for (let at = first; at < last; at++) entries.push(values[at] as Entry) // within the leaf
    if (entries.length < limit && (++seen % LEAVES_PER_CHECK !== 0 || !turnIsOver())) return true
    next = `${keys[last - 1] as string}\0`
    return false
  })
  return next
}

/** As `collect`, of entries whose keys are known. */
function collectFound (
  map: Snapshot['map'], keys: readonly string[], { limit, matches, entries }: Page
): string | undefined {
  for (const key of keys) {
    const entry = map.get(key)
    if (entry === undefined || !matches(entry)) continue
    entries.push(entry)
    if (entries.length >= limit) return `${key}\0`
  }
  return undefined
}

async function yieldTurn (signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw new StatusError('Timeout', 'the request ended before the list was complete')
  await nextTurn()
}

/** Reads a page from the back end, at a revision that the cache lacks; 0 is the newest. */
async function history (
  store: ResourceStore, request: ListRequest, at: Revision, from: string | undefined
): Promise<ListResult> {
  const { start, end, first, everything, matches } = selection(store, request, from)
  const limit = request.limit === 0 ? Infinity : request.limit
  const entries: Entry[] = []
  let next = exactKey(store, request) ?? first
  const rethrow = (error: unknown): never => { throw isStorageError(error, 'Compacted') ? tooOld(from) : error }
  if (next !== first) {
    const { revision, kv } = await store.backend.get(next, at).catch(rethrow)
    const entry = kv === undefined || next < first ? undefined : store.entries.decode(kv, kv.modRevision)
    if (entry !== undefined && matches(entry)) entries.push(entry)
    store.observer?.listedFromStore(kv === undefined ? 0 : 1, entry === undefined ? 0 : 1, entries.length)
    return { revision, entries, continue: '', remaining: undefined }
  }
  let revision = at
  let read = 0
  let examined = 0
  for (;;) {
    const size = everything ? Math.min(BACKEND_PAGE, limit - entries.length) : BACKEND_PAGE
    const { kvs, more, count, revision: current } = await store.backend
      .list({ start: next, end, revision, limit: size })
      .catch(rethrow)
    revision ||= current
    let used = 0
    read += kvs.length
    for (const kv of kvs) {
      const entry = store.entries.decode(kv, kv.modRevision)
      if (matches(entry)) entries.push(entry)
      next = `${kv.key}\0`
      used++
      if (entries.length >= limit) break
    }
    examined += used
    const left = more || used < kvs.length
    if (!left || entries.length >= limit) store.observer?.listedFromStore(read, examined, entries.length)
    if (!left) return { revision, entries, continue: '', remaining: undefined }
    if (entries.length >= limit) {
      return {
        revision, entries, continue: encodeToken({ revision, next: next.slice(start.length) }),
        remaining: everything ? count - used : undefined
      }
    }
    await yieldTurn(request.signal)
  }
}
