/** The newest state of an object. */
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from './resource-store.js'

/** The newest object, from the cache if that is known to be current. */
export async function current (store: ResourceStore, key: string): Promise<Entry | undefined> {
  const { cache } = store
  if (cache !== undefined) {
    await cache.fresh()
    return cache.get(key)
  }
  const { kv } = await store.backend.get(key)
  return kv === undefined ? undefined : store.entries.decode(kv, kv.modRevision)
}
