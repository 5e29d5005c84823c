/** GET of one object. */
import { badRequest, notFound } from '../../schemas/status.js'
import type { Revision } from '../backend.js'
import type { Entry } from '../cache/entry.js'
import type { ResourceStore } from '../resource-store.js'

/** @throws StatusError 400 */
export function parseRevision (text: string, parameter = 'resourceVersion'): Revision {
  const revision = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(revision)) throw badRequest(`${parameter}: invalid value ${JSON.stringify(text.slice(0, 100))}: it must be a version this server gave out`)
  return revision
}

/**
 * By resourceVersion: '' the newest, '0' any, another not older than it. (Interface: Resource version
 * semantics.) Answers at once where nothing has to be waited for.
 * @throws StatusError 400, 404; StorageError 'FutureRevision'
 */
export function get (store: ResourceStore, namespace: string, name: string, resourceVersion: string): Entry | Promise<Entry> {
  const key = store.key(namespace, name)
  const wait = freshness(store, resourceVersion)
  return wait === undefined ? find(store, key, name) : wait.then(() => find(store, key, name))
}

/** Undefined when the cache is already as new as the version asks for. */
export function freshness (store: ResourceStore, resourceVersion: string): Promise<void> | undefined {
  const { cache } = store
  if (resourceVersion === '') return cache.fresh()
  const revision = parseRevision(resourceVersion)
  if (!cache.loaded) return cache.ready().then(() => cache.reach(revision))
  return cache.revision >= revision ? undefined : cache.reach(revision)
}

function find (store: ResourceStore, key: string, name: string): Entry {
  const entry = store.cache.snapshot.map.get(key)
  if (entry === undefined) throw notFound(store.resource, name)
  return entry
}
