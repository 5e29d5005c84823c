/**
 * The store behind the routes: opens the back end, offers the registry that routes add their resource types
 * to, and compacts the history at its interval. It boots before the routes and loads the caches when all of them
 * are there.
 */
import fp from 'fastify-plugin'
import { PROTOBUF_TYPE } from '../../schemas/media-types.js'
import { loadPlugins } from '../../admission/catalogue.js'
import { AdmissionChain } from '../../admission/chain.js'
import type { AdmissionOptions } from '../../admission/options.js'
import { admissionReader } from '../../admission/reader.js'
import type { Backend } from '../../storage/backend.js'
import { startCompaction } from '../../storage/compaction.js'
import { failureFields } from '../../storage/errors.js'
import { type BackendOptions, openStores } from '../../storage/open.js'
import type { ServiceRanges } from '../../registry/services/allocation.js'
import { ResourceRegistry } from '../../registry/resource-registry.js'
import { withoutRepeats } from './repeated-failures.js'
import type { StorageMediaType } from '../../registry/resource-store.js'
import { observeAdmission } from './admission-metrics.js'
import { observeAddresses, observeRanges } from './allocator-metrics.js'
import { outboundCallers, type OutboundOptions } from './outbound.js'
import { observePodSecurity } from './pod-security-metrics.js'
import { observeCaches, observeStores, resourceLabel } from './store-metrics.js'

/** Where objects are kept and how: a kind of back end with its options, memory without one, or a `Backend` of the host's own. */
export type StorageOptions = (BackendOptions | Backend) & {
  /** Of all keys in the store, `--etcd-prefix`. Default `/registry`. */
  readonly prefix?: string
  /** `--storage-media-type`. Default `application/vnd.orch.protobuf`. */
  readonly mediaType?: StorageMediaType
  /** Milliseconds; 0 never compacts. Default 5 minutes. */
  readonly compactionInterval?: number
  /** Milliseconds the store may take to prove that it answers, `--etcd-healthcheck-timeout`. Default 2,000. */
  readonly healthcheckTimeout?: number
  /** Milliseconds that Events stay, `--event-ttl`. Default one hour. */
  readonly eventTtl?: number
  /** For how long the lease of an Event is that of later ones, which it outlives by no more, and no more than a twentieth of their time. Default 60. */
  readonly leaseReuseSeconds?: number
  /** Whether a garbage collector sees to what depends on a deleted object, `--enable-garbage-collector`. Default true. */
  readonly garbageCollection?: boolean
}

/** What of the store is kept in memory. */
export interface WatchCacheOptions {
  /**
   * Events kept per resource for watches before the back end is asked, at least; no fewer than 2,000 are. Default 100.
   * With 0 nothing of a resource is kept in memory: the back end answers everything.
   */
  readonly size?: number
  /** The same for single resources, by `group/plural`, `/configmaps` for one of the core group. */
  readonly sizes?: Readonly<Record<string, number>>
}

export interface StoragePluginOptions {
  readonly storage?: StorageOptions | undefined
  readonly watchCache?: WatchCacheOptions | undefined
  readonly admission?: AdmissionOptions | undefined
  readonly services?: ServiceRanges | undefined
  /** Default true. */
  readonly allowPrivileged?: boolean | undefined
  readonly outbound?: OutboundOptions | undefined
}

const MINUTE = 60_000
const TRIM_EVERY = MINUTE / 2

export default fp<StoragePluginOptions>(async (fastify, { storage = {}, watchCache = {}, admission = {}, services, allowPrivileged = true, outbound = {} }) => {
  const { prefix = '/registry', mediaType = PROTOBUF_TYPE, compactionInterval = 5 * MINUTE, healthcheckTimeout = 2000, eventTtl, leaseReuseSeconds, garbageCollection } = storage
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const stores = await openStores(storage, { prefix, note: text => { fastify.log.warn(text) } })
  const backends = stores.all.map(({ backend }) => backend)

  const { rbac, authorizer } = fastify.orch
  const callers = outboundCallers({ ...outbound, resources: () => resources, metrics: fastify.orch.metrics, warn: text => { fastify.log.warn(text) } })
  const plugins = await loadPlugins(admission, {
    resources: () => resources,
    authorize: attributes => authorizer.authorize(attributes),
    tolerationSeconds: admission.tolerationSeconds ?? { notReady: 300, unreachable: 300 },
    callers,
    observePodSecurity: observePodSecurity(fastify.orch.metrics),
    note: text => { fastify.log.warn(text) }
  })
  // A rule on objects: what breaks it is invalid, and of that nobody else has to judge.
  if (!allowPrivileged) plugins.unshift((await import('../../admission/privileged-containers.js')).privilegedContainers)
  if (rbac !== undefined) plugins.push((await import('../../admission/plugins/rbac-escalation.js')).escalationCheck({ rbac, authorize: attributes => authorizer.authorize(attributes) }))
  const allocation = services === undefined ? undefined : new (await import('../../registry/services/allocation.js')).ServiceAllocation({ ...services, backend: stores.of('', 'services'), prefix, log, observe: observeAddresses(fastify.orch.metrics) })
  const resources: ResourceRegistry = new ResourceRegistry({
    backendOf: stores.of,
    allocationOf: (group, plural) => group === '' && plural === 'services' ? allocation : undefined,
    prefix,
    mediaType,
    windowSizeOf: (group, plural) => watchCache.sizes?.[`${group}/${plural}`] ?? watchCache.size ?? 100,
    ttlSeconds: eventTtl === undefined ? undefined : eventTtl / 1000, // of the one type whose objects end by themselves
    leaseReuseSeconds,
    garbageCollection,
    observerOf: observeStores(fastify.orch.metrics),
    admission: new AdmissionChain(plugins, observeAdmission(fastify.orch.metrics), admission.plugins),
    reader: admissionReader(() => resources),
    log
  })
  // What a busy minute has filled is given back when it is over.
  const trimming = setInterval(() => { for (const { cache } of resources.all()) cache?.trim() }, TRIM_EVERY).unref()
  const compactions = backends.map(backend => startCompaction(backend, compactionInterval, log))

  fastify.orch.resources = resources
  fastify.orch.services = allocation
  fastify.orch.knowsPath = info => {
    const store = info.isResourceRequest ? resources.lookup(info) : undefined
    return store !== undefined && (store.type.namespaced || info.namespace === '' || info.namespace === info.name) &&
      (info.subresource === '' || store.representation.subresources.some(({ name }) => name === info.subresource))
  }

  const { health, metrics } = fastify.orch
  stores.all.forEach(({ backend, name, endpoint }, at) => {
    health.add(at === 0 ? 'etcd' : `etcd-override-${at - 1}`, () => backend.status(), { timeout: healthcheckTimeout })
    metrics.trackStore(name, () => backend.status(), endpoint)
  })
  // Of readiness alone: whoever restarted a server for a full disk would take away its reads and deletes.
  if (backends.some(({ shortage }) => shortage !== undefined)) {
    health.add('storage-space', () => {
      for (const backend of backends) {
        const shortage = backend.shortage?.()
        if (shortage !== undefined) throw shortage
      }
    }, { healthz: false, livez: false })
  }
  health.add('informer-sync', () => {
    for (const { cache, type } of resources.all()) if (cache?.loaded === false) throw new Error(`${type.plural} are not loaded yet`)
  }, { healthz: false, livez: false })

  observeCaches(metrics, resources)
  if (allocation !== undefined) observeRanges(metrics, allocation)
  fastify.addHook('onReady', done => {
    health.postStart('start-watch-caches', resources.open())
    for (const store of resources.all()) {
      const { start, end } = store.range('')
      metrics.trackObjects(resourceLabel(store.type), () => store.backend.count(start, end))
    }
    done()
  })

  fastify.addHook('onClose', async () => {
    clearInterval(trimming)
    for (const stop of compactions) stop()
    resources.close()
    await callers.close()
    await stores.close()
  })
}, { name: 'orch/storage', fastify: '5.x', dependencies: ['orch/health', 'orch/metrics', 'orch/dry-run'] })
