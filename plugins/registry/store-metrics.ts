/** Metrics of stores and watch caches by resource type, with upstream's names. */
import { resourceLabel, type ResourceType } from '../../schemas/resource.js'
import type { StoreObserver, StoreOperation } from '../../storage/observer.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { Counter, Histogram, Metrics } from '../shared/metric-series.js'

const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const OBJECTS = [10, 50, 100, 500, 1000, 2500, 5000]

export function observeStores ({ counter, gauge, histogram }: Metrics): (type: ResourceType) => StoreObserver {
  const cacheLists = counter(
    'apiserver_cache_list_total', 'Lists that were answered from memory.', ['resource_prefix', 'index']
  )
  const cacheFetched = counter(
    'apiserver_cache_list_fetched_objects_total', 'Objects that were looked at in memory for lists.',
    ['resource_prefix', 'index']
  )
  const cacheReturned = counter(
    'apiserver_cache_list_returned_objects_total', 'Objects in lists that were answered from memory.',
    ['resource_prefix']
  )
  const lists = counter('apiserver_storage_list_total', 'Lists that were answered from the store.', ['resource'])
  const fetched = counter(
    'apiserver_storage_list_fetched_objects_total', 'Objects that were read from the store for lists.', ['resource']
  )
  const evaluated = counter(
    'apiserver_storage_list_evaluated_objects_total', 'Objects of the store that were looked at for lists.',
    ['resource']
  )
  const returned = counter(
    'apiserver_storage_list_returned_objects_total', 'Objects in lists that were answered from the store.', ['resource']
  )
  const dispatched = counter(
    'apiserver_watch_cache_events_dispatched_total', 'Changes that reached the cache and those who watch it.',
    ['resource']
  )
  const initializations = counter(
    'apiserver_watch_cache_watch_cache_initializations_total', 'Times a cache was loaded.', ['resource']
  )
  const bookmarks = gauge('etcd_bookmark_counts', 'Times the store said how far its history is.', ['resource'])
  const leased = histogram('etcd_lease_object_counts', 'Objects that share one lease of the store.', OBJECTS).with()
  const durations = histogram(
    'etcd_request_duration_seconds', 'Seconds that requests to the store took, by operation and type.', SECONDS,
    ['operation', 'type']
  )
  return type => {
    const resource = resourceLabel(type)
    const prefix = `/${type.storagePrefix}`
    const times = new Map<StoreOperation, Histogram>()
    let fromCache: [lists: Counter, fetched: Counter, returned: Counter] | undefined
    return {
      listedFromCache: (looked, answered) => {
        fromCache ??= [cacheLists.with(prefix, ''), cacheFetched.with(prefix, ''), cacheReturned.with(prefix)]
        fromCache[0].add()
        fromCache[1].add(looked)
        fromCache[2].add(answered)
      },
      listedFromStore: (read, looked, answered) => {
        lists.with(resource).add()
        fetched.with(resource).add(read)
        evaluated.with(resource).add(looked)
        returned.with(resource).add(answered)
      },
      changed: events => { dispatched.with(resource).add(events) },
      loaded: () => { initializations.with(resource).add() },
      progressed: () => { bookmarks.with(resource).add(1) },
      leased: objects => { leased.observe(objects) },
      called: (operation, seconds) => {
        let time = times.get(operation)
        if (time === undefined) times.set(operation, time = durations.with(operation, resource))
        time.observe(seconds)
      }
    }
  }
}

/** Sizes of the watch caches. */
export function observeCaches ({ gauge, beforeScrape }: Metrics, resources: ResourceRegistry): void {
  const capacities = gauge('watch_cache_capacity', 'Changes that a cache keeps for watches.', ['resource'])
  beforeScrape(() => {
    for (const { cache, type } of resources.all()) {
      if (cache !== undefined) capacities.with(resourceLabel(type)).set(cache.window.capacity)
    }
  })
}
