/** The newest state of an object. */
import type { ApiObject } from '../../schemas/index.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'

/** The newest object, from the cache if that is known to be current. */
export async function current (store: ResourceStore, key: string): Promise<Entry | undefined> {
  const { cache } = store
  if (cache !== undefined) {
    await cache.fresh()
    return cache.get(key)
  }
  const { kv } = await store.backend.get(key)
  return kv === undefined ? undefined : store.decode(kv, kv.modRevision)
}

/** Whether nothing holds a terminating object any longer. */
export function removable (store: ResourceStore, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers } = object.metadata
  return deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds) === 0 && (finalizers ?? []).length === 0 && store.strategy.blocksRemoval?.(object) !== true
}
