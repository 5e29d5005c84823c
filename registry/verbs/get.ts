import { badRequest, notFound } from '../../schemas/status.js'
import type { Backend, Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { FUTURE_WAIT_MS, type WatchCache } from '../../storage/cache/watch-cache.js'
import { futureRevision } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { quote } from '../../schemas/quote.js'

const POLL_MS = 25

/** @throws StatusError 400 */
export function parseRevision (text: string, parameter = 'resourceVersion'): Revision {
  const revision = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(revision)) {
    throw badRequest(`invalid resource version: ${parameter}: Invalid value: ${quote(text)}: must be a whole number ` +
      `up to ${Number.MAX_SAFE_INTEGER}`)
  }
  return revision
}

/**
 * By resourceVersion: '' the newest state, '0' any, otherwise at least that version. (Interface: Resource version
 * semantics.) Returns without a promise if it need not wait.
 * @throws StatusError 400, 404; StorageError 'FutureRevision'
 */
export function get (
  store: ResourceStore, namespace: string, name: string, resourceVersion: string
): Entry | Promise<Entry> {
  const key = store.keys.of(namespace, name)
  const { cache } = store
  if (cache === undefined) return getStored(store, key, name, resourceVersion)
  const wait = waitForResourceVersion(cache, resourceVersion)
  return wait === undefined ? find(store, cache, key, name) : wait.then(() => find(store, cache, key, name))
}

/** Waits until the cache has reached the version; undefined if it already has. */
export function waitForResourceVersion (cache: WatchCache, resourceVersion: string): Promise<void> | undefined {
  if (resourceVersion === '') return cache.fresh()
  const revision = parseRevision(resourceVersion)
  if (!cache.loaded) return cache.ready().then(() => cache.reach(revision))
  return cache.revision >= revision ? undefined : cache.reach(revision)
}

function find (store: ResourceStore, cache: WatchCache, key: string, name: string): Entry {
  const entry = cache.get(key)
  if (entry === undefined) throw notFound(store.resource, name)
  return entry
}

/** Reads from the back end, whose newest state satisfies any valid version. */
async function getStored (store: ResourceStore, key: string, name: string, resourceVersion: string): Promise<Entry> {
  if (resourceVersion !== '') await waitForRevision(store.backend, parseRevision(resourceVersion))
  const { kv } = await store.backend.get(key)
  if (kv === undefined) throw notFound(store.resource, name)
  return store.entries.decode(kv, kv.modRevision)
}

/** Resolves when the store has reached the revision. @throws StorageError 'FutureRevision' after FUTURE_WAIT_MS */
export async function waitForRevision (backend: Backend, revision: Revision): Promise<void> {
  const until = performance.now() + FUTURE_WAIT_MS
  for (;;) {
    const newest = revision === 0 ? 0 : await backend.revision()
    if (newest >= revision) return
    if (performance.now() > until) throw futureRevision(revision, newest)
    await new Promise(resolve => { setTimeout(resolve, POLL_MS) })
  }
}
