/** What a request is expected to cost, in seats: a list by the objects that it goes through, a write by the watches that it wakes. */
import type { RequestInfo } from '../../schemas/auth/request-info.js'
import type { ResourceRegistry } from '../registry.js'
import { ONE_SEAT, type Work } from './ticket.js'

export const MOST_SEATS = 10
const OBJECTS_PER_SEAT = 100
const WATCHES_PER_SEAT = 10
/** Milliseconds that a seat is busy with the event of a write. */
const EVENT_MS = 5

/** Of the few widths there are, one value each. */
const LISTS: readonly Work[] = Array.from({ length: MOST_SEATS + 1 }, (_, seats) => seats <= 1 ? ONE_SEAT : { seats, finalSeats: 0, finalMs: 0 })

export interface Asked {
  /** `limit` of a list, 0 for none. */
  readonly limit: number
  /** Whether what is listed is selected by labels or fields. */
  readonly selects: boolean
}

/** A page goes through as many objects as it has, unless it has to look for them. */
export function workOfList (objects: number, { limit, selects }: Asked): Work {
  const touched = selects || !(limit > 0) ? objects : Math.min(limit, objects)
  return LISTS[Math.min(MOST_SEATS, Math.ceil(touched / OBJECTS_PER_SEAT))] ?? ONE_SEAT
}

/** Few watches are not worth a seat. More than fit into the seats that one may have take them for longer. */
export function workOfWrite (watches: number): Work {
  if (watches < WATCHES_PER_SEAT) return ONE_SEAT
  const seats = Math.ceil(watches / WATCHES_PER_SEAT)
  return seats <= MOST_SEATS
    ? { seats: 1, finalSeats: seats, finalMs: EVENT_MS }
    : { seats: 1, finalSeats: MOST_SEATS, finalMs: seats * EVENT_MS / MOST_SEATS }
}

const askedBy = (query: URLSearchParams): Asked => ({ limit: Number(query.get('limit') ?? 0) || 0, selects: query.has('labelSelector') || query.has('fieldSelector') })

export interface Estimate { readonly work: Work, /** Undefined for what is no write. */ readonly watches: number | undefined }

/** What wakes watches once; of a collection nobody knows how often. */
const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete'])

const READ: Estimate = Object.freeze({ work: ONE_SEAT, watches: undefined })

/** What is not kept in memory is counted as one: nobody knows how much of it there is without asking the store. */
export function estimate (info: RequestInfo, request: { readonly query: URLSearchParams }, resources: ResourceRegistry | undefined): Estimate {
  if (!info.isResourceRequest) return READ
  if (info.verb === 'list') {
    const store = resources?.find(info.group, info.resource)
    if (store?.cache?.loaded !== true || info.name !== '') return READ
    const { start, end } = store.range(info.namespace)
    return { work: workOfList(store.cache.snapshot.map.count(start, end), askedBy(request.query)), watches: undefined }
  }
  if (!WRITES.has(info.verb)) return READ
  const store = resources?.find(info.group, info.resource)
  if (store?.cache === undefined) return READ
  const watches = store.cache.watchesOf(info.name === '' ? store.scope(info.namespace) : store.key(info.namespace, info.name))
  return { work: workOfWrite(watches), watches }
}
