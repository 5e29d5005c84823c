/**
 * A back end whose values differ from those of the store behind it: transformed when they are read or watched, and
 * before they are written. Transformations may be synchronous; events are then delivered in the turn in which they
 * arrive.
 */
import type { Backend, BackendEvent, BackendWatch, KeyValue, Revision, WatchRequest, WriteResult } from './backend.js'
import { StorageError } from './errors.js'
import { callSafely } from './watch-callbacks.js'
import { registerWrapper } from './wrapped.js'

export interface Transformation {
  /** Values as readers see them, one for one and in order. A rejection fails the read or ends the watch. */
  readonly read: (kvs: readonly KeyValue[]) => KeyValue[] | Promise<KeyValue[]>
  /**
   * The value to store. A rejection means that nothing is written.
   * @param watched false if nothing waits for the event of the write
   */
  readonly write: (key: string, value: Uint8Array, watched: boolean) => Uint8Array | Promise<Uint8Array>
  /** As `Backend.asRead`. Default that of the store behind. */
  readonly asRead?: NonNullable<Backend['asRead']>
  /** As `Backend.outdated`. */
  readonly outdated?: NonNullable<Backend['outdated']>
  /** Ends a watch whose events arrive faster than they are transformed. */
  readonly tooSlow: string
}

/** Maximum events that wait for their transformation; with more, the watch ends as too slow. */
const MAX_WAITING = 10_000
/** Deliveries are transformed together until they have this many events. */
const TOGETHER = 100

export function transformedBackend (inner: Backend, transformation: Transformation): Backend {
  const { read, write, asRead = inner.asRead, outdated = inner.outdated } = transformation
  const watches: Watches = { open: new Set(), delayed: new Set() }
  const one = async (kv: KeyValue | undefined): Promise<KeyValue | undefined> =>
    kv === undefined ? undefined : (await read([kv]))[0]
  const outcome = async (result: WriteResult): Promise<WriteResult> =>
    result.succeeded || result.current === undefined ? result : { ...result, current: await one(result.current) }
  return registerWrapper({
    name: inner.name,
    get: async (key, revision) => {
      const { kv, ...result } = await inner.get(key, revision)
      return { ...result, kv: await one(kv) }
    },
    list: async request => {
      const { kvs, ...result } = await inner.list(request)
      return { ...result, kvs: await read(kvs) }
    },
    count: (start, end) => inner.count(start, end),
    create: async (key, value, options) =>
      await outcome(await inner.create(key, await write(key, value, watches.open.size > 0), options)),
    update: async (key, value, expected, options) =>
      await outcome(await inner.update(key, await write(key, value, watches.open.size > 0), expected, options)),
    delete: async (key, expected) => await outcome(await inner.delete(key, expected)),
    watch: request => watch(inner, request, transformation, watches),
    compact: revision => inner.compact(revision),
    compactedRevision: () => inner.compactedRevision(),
    revision: () => inner.revision(),
    revisionNow: () => watches.delayed.size === 0 ? inner.revisionNow() : undefined,
    ...(inner.delivered === undefined
      ? {}
      : { delivered: () => watches.delayed.size === 0 ? inner.delivered?.() : undefined }),
    status: () => inner.status(),
    ...(asRead === undefined ? {} : { asRead }),
    ...(outdated === undefined ? {} : { outdated }),
    ...(inner.shortage === undefined ? {} : { shortage: () => inner.shortage?.() }),
    lease: seconds => inner.lease(seconds),
    close: async () => {} // the caller closes the store
  }, inner)
}

interface Watches {
  readonly open: Set<BackendWatch>
  /** Watches that have received events of the store and not delivered them yet. */
  readonly delayed: Set<BackendWatch>
}

/** What a watch delivers, in order: events and the revision they are complete up to, progress, or the end. */
type Delivery =
  | { readonly events: readonly BackendEvent[], readonly revision: Revision }
  | { readonly progress: Revision }
  | { readonly end: StorageError }

/** Delivers each event after the transformation of all events before it. Events that wait are transformed together. */
function watch (
  inner: Backend, request: WatchRequest, { read, tooSlow }: Transformation, { open, delayed }: Watches
): BackendWatch {
  const queue: Delivery[] = []
  let waiting = 0
  let reading = false
  let ended = false
  const stop = (): void => {
    ended = true
    queue.length = 0
    open.delete(watching)
    delayed.delete(watching)
    watching.cancel()
  }
  const end = (error: StorageError): void => {
    if (ended) return
    stop()
    request.onEnd(error)
  }
  const failed = (error: unknown): void => {
    end(error instanceof StorageError
      ? error
      : new StorageError('Unavailable', error instanceof Error ? error.message : String(error), { cause: error }))
  }
  const deliver = (events: readonly BackendEvent[], values: readonly KeyValue[], revision: Revision): void => {
    if (ended) return
    waiting -= events.length
    const transformed = values.values()
    const made = events.map(({ type, previous }): BackendEvent => {
      const kv = transformed.next().value as KeyValue // one for each
      return { type, kv, previous: previous === undefined ? undefined : transformed.next().value }
    })
    callSafely(() => { request.onEvents(made, revision) }, end)
  }
  const takeEvents = (): { events: BackendEvent[], revision: Revision } => {
    const events: BackendEvent[] = []
    let revision = 0
    for (let first = queue[0]; first !== undefined && 'events' in first && events.length < TOGETHER; first = queue[0]) {
      events.push(...first.events)
      revision = first.revision
      queue.shift()
    }
    return { events, revision }
  }
  /** Synchronous until a transformation takes time, and continues after it. */
  const work = (): void => {
    for (;;) {
      if (reading || ended) return
      const { events, revision } = takeEvents()
      const other = events.length === 0 ? queue.shift() : undefined
      if (queue.length === 0) delayed.delete(watching)
      if (other !== undefined && 'progress' in other) request.onProgress(other.progress)
      else if (other !== undefined && 'end' in other) end(other.end)
      else if (events.length === 0) return
      else {
        const values = read(events.flatMap(({ kv, previous }) => previous === undefined ? [kv] : [kv, previous]))
        if (!(values instanceof Promise)) {
          deliver(events, values, revision)
          continue
        }
        reading = true
        delayed.add(watching)
        values.then(all => { deliver(events, all, revision) }, failed).finally(() => {
          reading = false
          work()
        }).catch(failed)
      }
    }
  }
  const add = (delivery: Delivery): void => {
    if (ended) return
    queue.push(delivery)
    if (reading) return
    work()
  }

  const watching = inner.watch({
    ...request,
    onEvents: (all, revision) => {
      waiting += all.length
      if (waiting > MAX_WAITING && reading) return end(new StorageError('Compacted', tooSlow))
      // the store may forget it later
      const events = all.map((event): BackendEvent =>
        ({ type: event.type, kv: event.kv, previous: request.previous === false ? undefined : event.previous }))
      add({ events, revision })
    },
    onProgress: progress => { add({ progress }) },
    onEnd: error => { add({ end: error }) }
  })
  open.add(watching)
  return {
    requestProgress: () => { watching.requestProgress() },
    cancel: stop
  }
}
