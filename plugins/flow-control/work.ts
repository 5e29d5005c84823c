/**
 * What a request is expected to cost, in seats: a list by the objects that it goes through and their bytes, a write by its bytes,
 * those of the object it changes and the watches that it wakes. A seat is 1 MiB of stored JSON that is copied, 64 KiB of what is decoded or converted.
 */
import type { RequestInfo } from '../../auth/request-info.js'
import type { Representation } from '../../schemas/index.js'
import { MOST_BODY_BYTES } from '../../schemas/limits.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { OrderedMap } from '../../storage/cache/ordered-map.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { ONE_SEAT, type Work } from '../../flow-control/queue.js'

export const MOST_SEATS = 10
const OBJECTS_PER_SEAT = 100
const WATCHES_PER_SEAT = 10
/** Of stored JSON that is sent as it is: half a millisecond. */
const COPIED_PER_SEAT = 1024 * 1024
/** Of JSON that is read, or made into something else: a step takes a millisecond or two, and there are up to ten of them. */
const CONVERTED_PER_SEAT = 64 * 1024
/** Milliseconds that a seat is busy with the event of a write. */
const EVENT_MS = 5

/** Of the few widths there are without anything that follows, one value each. */
const WIDTHS: readonly Work[] = Array.from({ length: MOST_SEATS + 1 }, (_, seats) => seats <= 1 ? ONE_SEAT : { seats, finalSeats: 0, finalMs: 0 })

export interface ListQuery {
  /** `limit` of a list, 0 for none. */
  readonly limit: number
  /** Whether what is listed is selected by labels or fields. */
  readonly selects: boolean
}

/** A page goes through as many objects as it has, unless it has to look for them. */
export function workOfList (objects: number, { limit, selects }: ListQuery): Work {
  const touched = selects || !(limit > 0) ? objects : Math.min(limit, objects)
  return WIDTHS[Math.min(MOST_SEATS, Math.ceil(touched / OBJECTS_PER_SEAT))] ?? ONE_SEAT
}

/**
 * Few watches are not worth a seat. More than fit into the seats that one may have take them for longer.
 * @param seats while it runs
 */
export function workOfWrite (watches: number, seats = 1): Work {
  if (watches < WATCHES_PER_SEAT) return WIDTHS[seats] ?? ONE_SEAT
  const finalSeats = Math.ceil(watches / WATCHES_PER_SEAT)
  return finalSeats <= MOST_SEATS
    ? { seats, finalSeats, finalMs: EVENT_MS }
    : { seats, finalSeats: MOST_SEATS, finalMs: finalSeats * EVENT_MS / MOST_SEATS }
}

const seatsOf = (bytes: number, perSeat: number): number => Math.min(MOST_SEATS, Math.max(1, Math.ceil(bytes / perSeat)))

/** Seats for the bytes of what a list goes through. */
function seatsOfBytes (map: OrderedMap<Entry>, range: { start: string, end: string }, most: number, perSeat: number): number {
  let [bytes, seen] = [0, 0]
  map.forEach(range.start, range.end, ({ json }) => {
    bytes += json.length
    return ++seen < most && bytes < MOST_SEATS * perSeat
  })
  return seatsOf(bytes, perSeat)
}

const listQuery = (query: URLSearchParams): ListQuery => ({ limit: Number(query.get('limit') ?? 0) || 0, selects: query.has('labelSelector') || query.has('fieldSelector') })

/** What clients send that want JSON as it is. Whatever else they may come to, the answer has to be made. */
const PLAIN: ReadonlySet<string> = new Set(['', '*/*', 'application/json', 'application/json, */*', 'application/json,*/*'])

/** Whether stored JSON is sent as it is. */
const isCopied = ({ accept = '' }: Headers, query: URLSearchParams, { conversion }: Pick<Representation, 'conversion'>): boolean =>
  PLAIN.has(accept) && conversion === undefined && !query.has('pretty')

interface Headers { readonly accept?: string | undefined, readonly 'content-length'?: string | undefined, readonly 'transfer-encoding'?: string | undefined, readonly 'content-type'?: string | undefined }

/** A body of unknown length may be as large as any. Over HTTP/2 its type alone says that there is one. */
function bytesOfBody (headers: Headers): number {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined && headers['content-type'] === undefined ? 0 : MOST_BODY_BYTES
}

export interface Estimate { readonly work: Work, /** Undefined for what is no write. */ readonly watches: number | undefined }

/** What wakes watches once; of a collection nobody knows how often. */
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

const READ: Estimate = Object.freeze({ work: ONE_SEAT, watches: undefined })

/** What is not kept in memory is counted as one: nobody knows how much of it there is without asking the store. */
export function estimate (info: RequestInfo, query: URLSearchParams, headers: Headers, resources: ResourceRegistry | undefined): Estimate {
  if (!info.isResourceRequest) return READ
  const { verb, name } = info
  const isWrite = WRITES.has(verb)
  if (isWrite || verb === 'list') {
    const store = resources?.find(info.group, info.resource)
    const cache = store?.cache
    if (isWrite) return estimateWrite(store, info, bytesOfBody(headers))
    if (store === undefined || cache?.loaded !== true || name !== '') return READ
    const { map } = cache.snapshot
    const [range, asked] = [store.range(info.namespace), listQuery(query)]
    const work = workOfList(map.count(range.start, range.end), asked)
    if (work.seats === MOST_SEATS) return { work, watches: undefined }
    const seats = seatsOfBytes(map, range, asked.selects || asked.limit <= 0 ? Infinity : asked.limit, isCopied(headers, query, representationOf(store, info)) ? COPIED_PER_SEAT : CONVERTED_PER_SEAT)
    return { work: WIDTHS[Math.max(work.seats, seats)] ?? ONE_SEAT, watches: undefined }
  }
  if (verb !== 'get') return READ
  const store = resources?.find(info.group, info.resource)
  if (isCopied(headers, query, store === undefined ? NOTHING : representationOf(store, info))) return READ
  const bytes = store === undefined ? 0 : stored(store, info)
  return bytes <= CONVERTED_PER_SEAT ? READ : { work: WIDTHS[seatsOf(bytes, CONVERTED_PER_SEAT)] ?? ONE_SEAT, watches: undefined }
}

const NOTHING = { conversion: undefined }
const representationOf = ({ type }: ResourceStore, { version }: RequestInfo): Pick<Representation, 'conversion'> => type.representations.find(one => one.version === version) ?? NOTHING

function estimateWrite (store: ResourceStore | undefined, info: RequestInfo, body: number): Estimate {
  if (store?.cache === undefined) return body <= CONVERTED_PER_SEAT ? READ : { work: WIDTHS[seatsOf(body, CONVERTED_PER_SEAT)] ?? ONE_SEAT, watches: undefined }
  const watches = store.cache.watchesOf(info.name === '' ? store.scope(info.namespace) : store.key(info.namespace, info.name))
  const bytes = body + (info.name === '' ? 0 : stored(store, info))
  return { work: workOfWrite(watches, seatsOf(bytes, CONVERTED_PER_SEAT)), watches }
}

/** Bytes of the object that a request names, as far as they are known. */
function stored (store: ResourceStore, { namespace, name }: RequestInfo): number {
  return store.cache?.loaded === true ? store.cache.snapshot.map.get(store.key(namespace, name))?.json.length ?? 0 : 0
}
