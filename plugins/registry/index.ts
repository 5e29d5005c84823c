/**
 * Makes the resource registry, to which the routes add the types, and loads their watch caches before the server is
 * ready.
 */
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import { PUBLIC_PROTOBUF_TYPE } from '../../schemas/public-names.js'
import { RELEASE_NAME } from '../../schemas/meta/release.js'
import { admissionReader } from '../../admission/reader.js'
import { failureFields } from '../../storage/errors.js'
import { limitForms, type FormsSize } from '../../storage/cache/forms-budget.js'
import type { ServiceAllocation, ServiceRanges } from '../../registry/services/allocation.js'
import { ResourceRegistry, type RegistryOptions } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { stateFields, stateOf } from '../../registry/state.js'
import { withoutRepeats } from '../shared/repeated-failures.js'
import { observeAddresses, observeRanges } from './allocator-metrics.js'
import { observeForms } from './form-metrics.js'
import { observeCaches, observeStores } from './store-metrics.js'
import { plugin, type Having } from '../shared/plugin.js'

/** Watch cache settings. */
export interface WatchCacheOptions {
  /**
   * Minimum events kept per resource; at least 2,000. Default 100. 0 disables the watch cache: the back end serves
   * everything.
   */
  readonly size?: number
  /** Overrides per resource by `group/plural`; `/configmaps` for the core group. */
  readonly sizes?: Readonly<Record<string, number>>
  /**
   * Memory for the forms of objects that clients read beside the stored JSON: bytes, or a share of the memory that the
   * process may use. All servers of a process have it together, and the last one that is registered with it sets it.
   * Default a quarter of the memory.
   */
  readonly encodedObjects?: FormsSize
  /**
   * Milliseconds after which readiness no longer waits until all objects are in memory; what is not there yet is read
   * from the store. Default 0: no limit.
   */
  readonly initialization?: number
}

type StoredOptions = Partial<Pick<RegistryOptions, 'leaseReuseSeconds' | 'garbageCollection'>> & {
  readonly mediaType?: RegistryOptions['mediaType'] | typeof PUBLIC_PROTOBUF_TYPE
  readonly eventTtl?: number
}

export interface RegistryPluginOptions {
  readonly storage?: StoredOptions | undefined
  readonly watchCache?: WatchCacheOptions | undefined
  readonly services?: ServiceRanges | undefined
}

const TRIM_EVERY = 30_000

type Server = Having<'orchBackends' | 'orchHealth' | 'orchMetrics' | 'orchSettings'>

/** @param addresses the store of the objects that later releases keep for addresses */
async function openAllocation (
  { orchBackends: backends, orchMetrics: metrics, orchSettings: { featureGates: gates } }: Server,
  ranges: ServiceRanges, log: RegistryOptions['log'], addresses: () => ResourceStore | undefined
): Promise<ServiceAllocation> {
  const { ServiceAllocation } = await import('../../registry/services/allocation.js')
  return new ServiceAllocation({
    ...ranges,
    keepsFirst: gates.enabled('ServiceIPStaticSubrange'),
    backend: backends.unencrypted('', 'services'),
    prefix: backends.prefix,
    log,
    observe: observeAddresses(metrics),
    ...gates.enabled('MultiCIDRServiceAllocator') ? { objects: addresses } : {}
  })
}

/** Loads the caches when the server starts, and lets readiness wait for them. @param most milliseconds; 0 for any */
function openAtStart (fastify: Server, resources: ResourceRegistry, most: number): void {
  const { orchHealth: health, orchMetrics: metrics, orchSettings: { featureGates: gates } } = fastify
  // Types that are defined later load beside the others, which serve meanwhile.
  let atStart: readonly ResourceStore[] = []
  let waits = true
  health.add('informer-sync', () => {
    if (!waits) return
    const pending = atStart.find(({ cache }) => cache?.loaded === false)
    if (pending !== undefined) throw new Error(`${pending.type.plural} are not loaded yet`)
  }, { healthz: false, livez: false })

  let limit: NodeJS.Timeout | undefined
  const waitedLong = (): Promise<void> => new Promise(resolve => {
    limit = setTimeout(() => {
      if (atStart.some(({ cache }) => cache?.loaded === false)) {
        fastify.log.warn('not all resources are in memory yet, readiness no longer waits for them')
      }
      waits = false
      resolve()
    }, most).unref()
  })
  fastify.addHook('onReady', done => {
    atStart = resources.all()
    const opened = most === 0 ? resources.open() : Promise.race([resources.open(), waitedLong()])
    health.postStart(gates.release === RELEASE_NAME ? 'start-watch-caches' : 'storage-readiness', opened)
    for (const store of resources.all()) {
      const { start, end } = store.keys.range('')
      metrics.trackObjects(store.type, () => store.backend.count(start, end))
    }
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    clearTimeout(limit)
    resources.close()
    done()
  })
}

export default plugin<RegistryPluginOptions>()(async (fastify, { storage = {}, watchCache = {}, services }) => {
  const { mediaType = PROTOBUF_TYPE, eventTtl, leaseReuseSeconds, garbageCollection } = storage
  const { orchBackends: backends, orchClock: clock, orchMetrics: metrics } = fastify
  const { featureGates: gates } = fastify.orchSettings
  if (watchCache.encodedObjects !== undefined) limitForms(watchCache.encodedObjects)
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const allocation = services === undefined
    ? undefined
    : await openAllocation(fastify, services, log, () => resources.find('networking.orch.io', 'ipaddresses'))
  const resources: ResourceRegistry = new ResourceRegistry({
    backendOf: backends.of,
    allocationOf: (group, plural) => group === '' && plural === 'services' ? allocation : undefined,
    clock,
    prefix: backends.prefix,
    mediaType: mediaType === PUBLIC_PROTOBUF_TYPE ? PROTOBUF_TYPE : mediaType,
    windowSizeOf: (group, plural) => watchCache.sizes?.[`${group}/${plural}`] ?? watchCache.size ?? 100,
    ttlSeconds: eventTtl === undefined ? undefined : eventTtl / 1000, // applies to Events only
    leaseReuseSeconds,
    garbageCollection,
    observerOf: observeStores(metrics, gates),
    reader: admissionReader(() => resources),
    gates,
    log
  })
  fastify.decorate('orchResources', resources)
  fastify.decorate('orchServices', allocation)
  fastify.decorate('orchReport', () => stateFields(stateOf(resources)))
  observeCaches(metrics, resources, gates)
  observeForms(metrics)
  if (allocation !== undefined) observeRanges(metrics, allocation)
  openAtStart(fastify, resources, watchCache.initialization ?? 0)

  // Release memory after a burst.
  const trimming = setInterval(() => { for (const { cache } of resources.all()) cache?.trim() }, TRIM_EVERY).unref()
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(trimming)
    done()
  })
}, {
  name: 'orch/registry',
  fastify: '5.x',
  decorators: { fastify: ['orchBackends', 'orchClock', 'orchHealth', 'orchMetrics', 'orchSettings'] }
})
