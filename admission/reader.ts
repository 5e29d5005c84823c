/** Reads other objects for admission, from the existing caches: as decoded, without the nulls that are sent. */
import { withoutNulls } from '../schemas/language/unset.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { AdmissionReader } from '../registry/admission.js'
import type { Entry } from '../storage/cache/entry.js'

const objectOf = ({ stored }: ResourceStore, { object }: Entry): ApiObject => withoutNulls(stored.message, object)

export function admissionReader (resources: () => ResourceRegistry): AdmissionReader {
  return {
    get: async (group, resource, namespace, name) => {
      const store = resources().find(group, resource)
      if (store === undefined) return undefined
      const key = store.keys.of(namespace, name)
      const cached = store.cache?.loaded === true ? store.cache.get(key) : undefined
      if (cached !== undefined) return objectOf(store, cached)
      // The cache may lag behind: the object may just have been created.
      const { kv } = await store.backend.get(key)
      return kv === undefined ? undefined : objectOf(store, store.entries.decode(kv, kv.modRevision))
    },
    list: async (group, resource, namespace, labels = {}) => {
      const wanted = Object.entries(labels)
      const matches = (entry: Entry): boolean => wanted.every(([key, value]) => entry.labels?.[key] === value)
      const store = resources().find(group, resource)
      if (store === undefined) return []
      const { start, end } = store.keys.range(namespace)
      if (store.cache === undefined) {
        const { kvs } = await store.backend.list({ start, end })
        return kvs.map(kv => store.entries.decode(kv, kv.modRevision)).filter(matches)
          .map(entry => objectOf(store, entry))
      }
      await store.cache.ready()
      const entries: Entry[] = []
      store.cache.snapshot.map.forEach(start, end, entry => {
        if (matches(entry)) entries.push(entry)
        return true
      })
      const listed: ApiObject[] = []
      for (const entry of entries) { // objects are decoded when they are asked for
        listed.push(objectOf(store, entry))
        if (turnIsOver()) await nextTurn()
      }
      return listed
    }
  }
}
