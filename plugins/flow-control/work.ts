/**
 * Estimates the cost of a request in seats: lists, and watches that begin with the state, by number and bytes of the
 * objects scanned, writes by bytes of body and stored object and by the watches they notify. One seat is 1 MiB of
 * copied JSON, or 64 KiB of decoded or converted JSON.
 */
import type { RequestInfo } from '../../auth/request-info.js'
import type { Representation } from '../../schemas/resource.js'
import { MAX_BODY_BYTES } from '../../schemas/limits.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { OrderedMap } from '../../storage/cache/ordered-map.js'
import { isTrue } from '../../schemas/query-boolean.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { ONE_SEAT, type Work } from '../../flow-control/queue.js'

const MAX_SEATS = 10
const OBJECTS_PER_SEAT = 100
const WATCHES_PER_SEAT = 10
/** Bytes of stored JSON sent unchanged: half a millisecond. */
const COPIED_PER_SEAT = 1024 * 1024
/** Bytes of JSON that is parsed or converted: one to two milliseconds per step, up to ten steps. */
const CONVERTED_PER_SEAT = 64 * 1024
/** Milliseconds that a seat is busy dispatching the event of a write. */
const EVENT_MS = 5

/** Shared values for work without final seats. */
const WIDTHS: readonly Work[] = Array
  .from({ length: MAX_SEATS + 1 }, (_, seats) => seats <= 1 ? ONE_SEAT : { seats, finalSeats: 0, finalMs: 0 })

export interface ListQuery {
  /** `limit` of a list, 0 for none. */
  readonly limit: number
  /** True if the list has a label or field selector. */
  readonly selects: boolean
}

/** A page scans as many objects as it returns, unless it has a selector. */
export function workOfList (objects: number, { limit, selects }: ListQuery): Work {
  const touched = selects || !(limit > 0) ? objects : Math.min(limit, objects)
  return WIDTHS[Math.min(MAX_SEATS, Math.ceil(touched / OBJECTS_PER_SEAT))] ?? ONE_SEAT
}

/**
 * Few watches cost nothing extra. Beyond MAX_SEATS the final seats are held longer.
 * @param seats while the request executes
 */
export function workOfWrite (watches: number, seats = 1): Work {
  if (watches < WATCHES_PER_SEAT) return WIDTHS[seats] ?? ONE_SEAT
  const finalSeats = Math.ceil(watches / WATCHES_PER_SEAT)
  return finalSeats <= MAX_SEATS
    ? { seats, finalSeats, finalMs: EVENT_MS }
    : { seats, finalSeats: MAX_SEATS, finalMs: finalSeats * EVENT_MS / MAX_SEATS }
}

/** Part of a level's own seats that one list may take. */
const PART_OF_LEVEL = 0.15

/**
 * Work that leaves room for others of its level: a list takes no more than a part of the level's own seats, and no more
 * than so many that the queues of a flow could all run.
 */
export function narrowed (
  work: Work, { nominal, handSize }: { readonly nominal: number, readonly handSize: number }
): Work {
  const inHand = handSize > 0 ? Math.floor(nominal / handSize) : Infinity
  const most = Math.max(1, Math.min(Math.ceil(PART_OF_LEVEL * nominal), inHand))
  return work.seats <= most ? work : WIDTHS[most] ?? work
}

const seatsOf = (bytes: number, perSeat: number): number => Math.min(MAX_SEATS, Math.max(1, Math.ceil(bytes / perSeat)))

/** Seats for the bytes that a list scans. */
function seatsOfBytes (
  map: OrderedMap<Entry>, range: { start: string, end: string }, max: number, perSeat: number
): number {
  let [bytes, seen] = [0, 0]
  map.forEach(range.start, range.end, entry => {
    bytes += entry.bytes
    return ++seen < max && bytes < MAX_SEATS * perSeat
  })
  return seatsOf(bytes, perSeat)
}

/** As a list without a limit. */
const beginsWithState = (query: URLSearchParams): boolean => query.has('sendInitialEvents')
  ? isTrue(query.get('sendInitialEvents'))
  : /^0*$/.test(query.get('resourceVersion') ?? '')

const listQuery = (query: URLSearchParams, verb: string): ListQuery => ({
  limit: verb === 'watch' ? 0 : Number(query.get('limit') ?? 0) || 0,
  selects: query.has('labelSelector') || query.has('fieldSelector')
})

/** Common Accept headers for JSON. Anything else may need conversion. */
const PLAIN: ReadonlySet<string> = new Set([
  '', '*/*', 'application/json', 'application/json, */*', 'application/json,*/*'
])

/** True if stored JSON is sent unchanged. */
const isCopied = (
  { accept = '' }: Headers, query: URLSearchParams, { conversion }: Pick<Representation, 'conversion'>
): boolean =>
  PLAIN.has(accept) && conversion === undefined && !query.has('pretty')

interface Headers {
  readonly accept?: string | undefined, readonly 'content-length'?: string | undefined,
  readonly 'transfer-encoding'?: string | undefined, readonly 'content-type'?: string | undefined
}

/** A body of unknown length counts as the maximum. Over HTTP/2 the content type alone indicates a body. */
function bytesOfBody (headers: Headers): number {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined && headers['content-type'] === undefined ? 0 : MAX_BODY_BYTES
}

export interface Estimate {
  readonly work: Work, /** Undefined unless the request writes. */ readonly watches: number
  | undefined
}

/** Verbs that notify watches once; for deletecollection the number is unknown. */
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

const READ: Estimate = Object.freeze({ work: ONE_SEAT, watches: undefined })

/** Types without a watch cache count as one seat: their size is unknown without reading the store. */
export function estimate (
  info: RequestInfo, query: URLSearchParams, headers: Headers, resources: ResourceRegistry | undefined
): Estimate {
  if (!info.isResourceRequest) return READ
  const { verb, name } = info
  const isWrite = WRITES.has(verb)
  if (isWrite || verb === 'list' || (verb === 'watch' && beginsWithState(query))) {
    const store = resources?.find(info.group, info.resource)
    const cache = store?.cache
    if (isWrite) return estimateWrite(store, info, bytesOfBody(headers))
    if (store === undefined || cache?.loaded !== true || name !== '') return READ
    const { map } = cache.snapshot
    const [range, page] = [store.keys.range(info.namespace), listQuery(query, verb)]
    const work = workOfList(map.count(range.start, range.end), page)
    if (work.seats === MAX_SEATS) return { work, watches: undefined }
    const seats = seatsOfBytes(map, range, page.selects || page.limit <= 0
      ? Infinity
      : page.limit, isCopied(headers, query, representationOf(store, info)) ? COPIED_PER_SEAT : CONVERTED_PER_SEAT)
    return { work: WIDTHS[Math.max(work.seats, seats)] ?? ONE_SEAT, watches: undefined }
  }
  if (verb !== 'get') return READ
  const store = resources?.find(info.group, info.resource)
  if (isCopied(headers, query, store === undefined ? NOTHING : representationOf(store, info))) return READ
  const bytes = store === undefined ? 0 : stored(store, info)
  return bytes <= CONVERTED_PER_SEAT
    ? READ
    : { work: WIDTHS[seatsOf(bytes, CONVERTED_PER_SEAT)] ?? ONE_SEAT, watches: undefined }
}

const NOTHING = { conversion: undefined }
const representationOf = ({ type }: ResourceStore, { version }: RequestInfo): Pick<Representation, 'conversion'> =>
  type.representations.find(representation => representation.version === version) ?? NOTHING

function estimateWrite (store: ResourceStore | undefined, info: RequestInfo, body: number): Estimate {
  if (store?.cache === undefined) {
    return body <= CONVERTED_PER_SEAT
      ? READ
      : { work: WIDTHS[seatsOf(body, CONVERTED_PER_SEAT)] ?? ONE_SEAT, watches: undefined }
  }
  const watches = store.cache.watchesOf(
    info.name === '' ? store.keys.scope(info.namespace) : store.keys.of(info.namespace, info.name)
  )
  const bytes = body + (info.name === '' ? 0 : stored(store, info))
  return { work: workOfWrite(watches, seatsOf(bytes, CONVERTED_PER_SEAT)), watches }
}

/** Bytes of the named object, if cached. */
function stored (store: ResourceStore, { namespace, name }: RequestInfo): number {
  return store.cache?.loaded === true
    ? store.cache.snapshot.map.get(store.keys.of(namespace, name))?.bytes ?? 0
    : 0
}
