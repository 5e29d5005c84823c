/** Metrics of stores and watch caches by resource type, with upstream's names. */
import { typeLabels, type ResourceType } from '../../schemas/resource.js'
import type { Gates } from '../../schemas/gates.js'
import type { StoreObserver, StoreOperation } from '../../storage/observer.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { Counter, Histogram, Metrics } from '../shared/metric-series.js'

const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const OBJECTS = [10, 50, 100, 500, 1000, 2500, 5000]

export function observeStores (metrics: Metrics, gates: Gates): (type: ResourceType) => StoreObserver {
  const isLater = gates.enabled('MetricsHaveLaterStages')
  const labels = typeLabels(gates)
  const lists = observeLists(metrics, isLater, labels.names)
  const changes = observeChanges(metrics, isLater, labels.names)
  const calls = observeCalls(metrics, isLater, labels.names)
  const leased = metrics
    .histogram('etcd_lease_object_counts', 'Objects that share one lease of the store.', OBJECTS).with()
  return type => {
    const values = labels.of(type)
    return {
      ...lists(type, values), ...changes(values), ...calls(values), leased: objects => { leased.observe(objects) }
    }
  }
}

type Lists = Pick<StoreObserver, 'listedFromCache' | 'listedFromStore'>

function observeLists (
  { counter }: Metrics, isLater: boolean, names: readonly string[]
): (type: ResourceType, labels: readonly string[]) => Lists {
  const cacheNames = isLater ? names : ['resource_prefix']
  const cacheLists = counter(
    'apiserver_cache_list_total', 'Lists that were answered from memory.', [...cacheNames, 'index']
  )
  const cacheFetched = counter(
    'apiserver_cache_list_fetched_objects_total', 'Objects that were looked at in memory for lists.',
    [...cacheNames, 'index']
  )
  const cacheReturned = counter(
    'apiserver_cache_list_returned_objects_total', 'Objects in lists that were answered from memory.', cacheNames
  )
  const lists = counter('apiserver_storage_list_total', 'Lists that were answered from the store.', names)
  const fetched = counter(
    'apiserver_storage_list_fetched_objects_total', 'Objects that were read from the store for lists.', names
  )
  const evaluated = counter(
    'apiserver_storage_list_evaluated_objects_total', 'Objects of the store that were looked at for lists.', names
  )
  const returned = counter(
    'apiserver_storage_list_returned_objects_total', 'Objects in lists that were answered from the store.', names
  )
  return (type, labels) => {
    const cacheLabels = isLater ? labels : [`/${type.storagePrefix}`]
    let fromCache: [lists: Counter, fetched: Counter, returned: Counter] | undefined
    return {
      listedFromCache: (looked, answered) => {
        fromCache ??= [
          cacheLists.with(...cacheLabels, ''), cacheFetched.with(...cacheLabels, ''), cacheReturned.with(...cacheLabels)
        ]
        fromCache[0].add()
        fromCache[1].add(looked)
        fromCache[2].add(answered)
      },
      listedFromStore: (read, looked, answered) => {
        lists.with(...labels).add()
        fetched.with(...labels).add(read)
        evaluated.with(...labels).add(looked)
        returned.with(...labels).add(answered)
      }
    }
  }
}

type Changes = Pick<StoreObserver, 'changed' | 'loaded' | 'progressed'>

function observeChanges (
  { counter, gauge }: Metrics, isLater: boolean, names: readonly string[]
): (labels: readonly string[]) => Changes {
  const changes = [
    counter(
      'apiserver_watch_cache_events_dispatched_total', 'Changes that reached the cache and those who watch it.', names
    ),
    ...(isLater
      ? [
          counter('apiserver_watch_cache_events_received_total', 'Changes that reached the cache.', names),
          counter('apiserver_storage_events_received_total', 'Changes that came from the store.', names)
        ]
      : [])
  ]
  const initializations = counter(
    `apiserver_watch_cache_${isLater ? '' : 'watch_cache_'}initializations_total`, 'Times a cache was loaded.', names
  )
  const bookmarks = isLater
    ? counter('etcd_bookmark_total', 'Times the store said how far its history is.', names)
    : gauge('etcd_bookmark_counts', 'Times the store said how far its history is.', names)
  return labels => {
    let changed: Counter[] | undefined
    return {
      changed: events => {
        changed ??= changes.map(change => change.with(...labels))
        for (const series of changed) series.add(events)
      },
      loaded: () => { initializations.with(...labels).add() },
      progressed: () => { bookmarks.with(...labels).add(1) }
    }
  }
}

function observeCalls (
  { counter, histogram }: Metrics, isLater: boolean, names: readonly string[]
): (labels: readonly string[]) => Pick<StoreObserver, 'called'> {
  const durations = histogram(
    'etcd_request_duration_seconds', 'Seconds that requests to the store took, by operation and type.', SECONDS,
    ['operation', ...(isLater ? names : ['type'])]
  )
  const requests = isLater
    ? counter('etcd_requests_total', 'Requests to the store, by operation and type.', ['operation', ...names])
    : undefined
  return labels => {
    const calls = new Map<StoreOperation, [time: Histogram, number: Counter | undefined]>()
    return {
      called: (operation, seconds) => {
        let call = calls.get(operation)
        if (call === undefined) {
          calls.set(operation, call = [durations.with(operation, ...labels), requests?.with(operation, ...labels)])
        }
        call[0].observe(seconds)
        call[1]?.add()
      }
    }
  }
}

/** Sizes of the watch caches. */
export function observeCaches ({ gauge, beforeScrape }: Metrics, resources: ResourceRegistry, gates: Gates): void {
  const { names, of } = typeLabels(gates)
  const capacities = gauge('watch_cache_capacity', 'Changes that a cache keeps for watches.', names)
  beforeScrape(() => {
    for (const { cache, type } of resources.all()) {
      if (cache !== undefined) capacities.with(...of(type)).set(cache.window.capacity)
    }
  })
}
