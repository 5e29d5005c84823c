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
  const readOne = async (kv: KeyValue | undefined): Promise<KeyValue | undefined> =>
    kv === undefined ? undefined : (await read([kv]))[0]
  const outcome = async (result: WriteResult): Promise<WriteResult> =>
    result.succeeded || result.current === undefined ? result : { ...result, current: await readOne(result.current) }
  return registerWrapper({
    name: inner.name,
    get: async (key, revision) => {
      const { kv, ...result } = await inner.get(key, revision)
      return { ...result, kv: await readOne(kv) }
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
    watch: request => new TransformedWatch(inner, request, transformation, watches),
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
class TransformedWatch implements BackendWatch {
  readonly #request: WatchRequest
  readonly #transformation: Transformation
  readonly #watches: Watches
  readonly #inner: BackendWatch
  readonly #queue: Delivery[] = []
  /** Events that have not been delivered. */
  #waiting = 0
  #isReading = false
  #hasEnded = false

  constructor (inner: Backend, request: WatchRequest, transformation: Transformation, watches: Watches) {
    this.#request = request
    this.#transformation = transformation
    this.#watches = watches
    this.#inner = inner.watch({
      ...request,
      onEvents: (events, revision) => { this.#take(events, revision) },
      onProgress: progress => { this.#add({ progress }) },
      onEnd: error => { this.#add({ end: error }) }
    })
    watches.open.add(this)
  }

  requestProgress (): void { this.#inner.requestProgress() }

  cancel (): void {
    this.#hasEnded = true
    this.#queue.length = 0
    this.#watches.open.delete(this)
    this.#watches.delayed.delete(this)
    this.#inner.cancel()
  }

  #take (events: readonly BackendEvent[], revision: Revision): void {
    this.#waiting += events.length
    if (this.#waiting > MAX_WAITING && this.#isReading) {
      this.#end(new StorageError('Compacted', this.#transformation.tooSlow))
      return
    }
    // the store may forget it later
    const kept = events.map(({ type, kv, previous }): BackendEvent =>
      ({ type, kv, previous: this.#request.previous === false ? undefined : previous }))
    this.#add({ events: kept, revision })
  }

  #add (delivery: Delivery): void {
    if (this.#hasEnded) return
    this.#queue.push(delivery)
    if (!this.#isReading) this.#work()
  }

  /** Synchronous until a transformation takes time, and continues after it. */
  #work (): void {
    while (!this.#isReading && !this.#hasEnded) {
      const { events, revision } = this.#nextEvents()
      const other = events.length === 0 ? this.#queue.shift() : undefined
      if (this.#queue.length === 0) this.#watches.delayed.delete(this)
      if (events.length > 0) this.#transform(events, revision)
      else if (other === undefined) return
      else if ('progress' in other) this.#request.onProgress(other.progress)
      else if ('end' in other) this.#end(other.end)
    }
  }

  #nextEvents (): { events: BackendEvent[], revision: Revision } {
    const events: BackendEvent[] = []
    let revision = 0
    while (events.length < TOGETHER) {
      const first = this.#queue[0]
      if (first === undefined || !('events' in first)) break
      events.push(...first.events)
      revision = first.revision
      this.#queue.shift()
    }
    return { events, revision }
  }

  #transform (events: readonly BackendEvent[], revision: Revision): void {
    const values = this.#transformation.read(
      events.flatMap(({ kv, previous }) => previous === undefined ? [kv] : [kv, previous])
    )
    if (!(values instanceof Promise)) {
      this.#deliver(events, values, revision)
      return
    }
    this.#isReading = true
    this.#watches.delayed.add(this)
    const failed = (error: unknown): void => { this.#fail(error) }
    values.then(transformed => { this.#deliver(events, transformed, revision) }, failed).finally(() => {
      this.#isReading = false
      this.#work()
    }).catch(failed)
  }

  #deliver (events: readonly BackendEvent[], values: readonly KeyValue[], revision: Revision): void {
    if (this.#hasEnded) return
    this.#waiting -= events.length
    const transformed = values.values()
    const backendEvents = events.map(({ type, previous }): BackendEvent => {
      const kv = transformed.next().value as KeyValue // one for each
      return { type, kv, previous: previous === undefined ? undefined : transformed.next().value }
    })
    callSafely(() => { this.#request.onEvents(backendEvents, revision) }, error => { this.#end(error) })
  }

  #fail (error: unknown): void {
    this.#end(error instanceof StorageError
      ? error
      : new StorageError('Unavailable', error instanceof Error ? error.message : String(error), { cause: error }))
  }

  #end (error: StorageError): void {
    if (this.#hasEnded) return
    this.cancel()
    this.#request.onEnd(error)
  }
}
