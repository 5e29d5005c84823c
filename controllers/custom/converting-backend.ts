/**
 * A back end that shows the objects of a store in another version: values are converted when they are read or watched, and before they
 * are written. Everything above works on the one version it sees.
 */
import { parseExactly, rawJson } from '../../schemas/index.js'
import type { Backend, BackendEvent, BackendWatch, KeyValue, WatchRequest, WriteResult } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import type { Convert, PlainObject } from './conversion.js'

/** Events that wait for their conversion, before a watch ends as too slow. */
const MAX_WAITING = 10_000

export interface Versions {
  /** As readers see objects. */
  readonly shown: string
  /** As objects are stored. */
  readonly stored: string
}

export function convertingBackend (inner: Backend, convert: Convert, { shown, stored }: Versions): Backend {
  const show = async (kvs: readonly KeyValue[]): Promise<KeyValue[]> => await convertValues(kvs, convert, shown)
  const store = async (value: Uint8Array): Promise<Uint8Array> => bytesOf((await convert([objectIn(value)], stored))[0] as PlainObject) // one for one
  const outcome = async (result: WriteResult): Promise<WriteResult> => result.succeeded || result.current === undefined ? result : { ...result, current: (await show([result.current]))[0] }
  return {
    name: inner.name,
    get: async (key, revision) => {
      const { kv, ...result } = await inner.get(key, revision)
      return { ...result, kv: kv === undefined ? undefined : (await show([kv]))[0] }
    },
    list: async request => {
      const { kvs, ...result } = await inner.list(request)
      return { ...result, kvs: await show(kvs) }
    },
    count: (start, end) => inner.count(start, end),
    create: async (key, value, options) => await outcome(await inner.create(key, await store(value), options)),
    update: async (key, value, expected, options) => await outcome(await inner.update(key, await store(value), expected, options)),
    delete: async (key, expected) => await outcome(await inner.delete(key, expected)),
    watch: request => watch(inner, request, show),
    compact: revision => inner.compact(revision),
    compactedRevision: () => inner.compactedRevision(),
    revision: () => inner.revision(),
    revisionNow: () => undefined, // watches lag behind while they convert
    status: () => inner.status(),
    ...(inner.shortage === undefined ? {} : { shortage: () => inner.shortage?.() }),
    lease: seconds => inner.lease(seconds),
    close: async () => {} // the store is another's
  }
}

const objectIn = (value: Uint8Array): PlainObject => parseExactly(value) as PlainObject // this server's own JSON
const bytesOf = (object: PlainObject): Uint8Array => Buffer.from(rawJson(object))

async function convertValues (kvs: readonly KeyValue[], convert: Convert, apiVersion: string): Promise<KeyValue[]> {
  const objects = kvs.map(({ damage, value }) => damage === undefined && value.length > 0 ? objectIn(value) : undefined)
  const present = objects.filter(object => object !== undefined)
  const converted = (await convert(present, apiVersion)).values()
  return kvs.map((kv, index) => {
    const object = objects[index]
    if (object === undefined) return kv
    const next = converted.next().value as PlainObject // one for each
    return next === object ? kv : { ...kv, value: bytesOf(next) }
  })
}

/** Delivers events in order, each batch after its conversion. */
function watch (inner: Backend, request: WatchRequest, show: (kvs: readonly KeyValue[]) => Promise<KeyValue[]>): BackendWatch {
  let waiting = 0
  let ended = false
  let queue = Promise.resolve()
  const end = (error: StorageError): void => {
    if (ended) return
    ended = true
    watching.cancel()
    request.onEnd(error)
  }
  const enqueue = (work: () => Promise<void> | void): void => {
    queue = queue.then(() => ended ? undefined : work()).catch((error: unknown) => {
      end(error instanceof StorageError ? error : new StorageError('Unavailable', error instanceof Error ? error.message : String(error), { cause: error }))
    })
  }
  const watching = inner.watch({
    ...request,
    onEvents: (events, revision) => {
      const seen = events.map(event => ({ event, previous: request.previous === false ? undefined : event.previous })) // the store may forget it later
      waiting += seen.length
      if (waiting > MAX_WAITING) return end(new StorageError('Compacted', 'the conversion webhook is too slow for this watch'))
      enqueue(async () => {
        const shown = (await show(seen.flatMap(({ event: { kv }, previous }) => previous === undefined ? [kv] : [kv, previous]))).values()
        const made = seen.map(({ event, previous }): BackendEvent => {
          const kv = shown.next().value as KeyValue // one for each
          return { ...event, kv, previous: previous === undefined ? undefined : shown.next().value }
        })
        waiting -= seen.length
        if (!ended) request.onEvents(made, revision)
      })
    },
    onProgress: revision => { enqueue(() => { request.onProgress(revision) }) },
    onEnd: error => { enqueue(() => { end(error) }) }
  })
  return {
    requestProgress: () => { watching.requestProgress() },
    cancel: () => {
      ended = true
      watching.cancel()
    }
  }
}
