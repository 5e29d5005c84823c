/**
 * Opens the back end and the resource registry, to which routes add their types; compacts the history periodically. Starts before the
 * routes, and loads the watch caches after all of them are registered.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { withoutBrackets } from '../../clients/tunnel.js'
import type { EncryptionOptions } from '../../schemas/api/apiserver/encryption.js'
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
import type { ResourceStore } from '../../registry/resource-store.js'
import type { StorageMediaType } from '../../registry/stored-form.js'
import { withoutRepeats } from '../repeated-failures.js'
import type { OrchServer } from '../server.js'
import { observeAdmission } from './admission-metrics.js'
import { observeAddresses, observeRanges } from './allocator-metrics.js'
import { outboundCallers, type OutboundOptions } from './outbound.js'
import { observeSpace } from './space.js'
import { observeEncryption } from './encryption-metrics.js'
import { observePodSecurity } from './pod-security-metrics.js'
import { observeCaches, observeStores, resourceLabel } from './store-metrics.js'

/** A back end with its options (default memory), or the host's own `Backend`. */
export type StorageOptions = (BackendOptions | Backend) & {
  /** Prefix of all keys, `--etcd-prefix`. Default `/registry`. */
  readonly prefix?: string
  /** `--storage-media-type`. Default `application/vnd.orch.protobuf`. */
  readonly mediaType?: StorageMediaType
  /** Milliseconds; 0 disables compaction. Default 5 minutes. */
  readonly compactionInterval?: number
  /** Maximum milliseconds for a health check of the store, `--etcd-healthcheck-timeout`. Default 2,000. */
  readonly healthcheckTimeout?: number
  /** Lifetime of Events in milliseconds, `--event-ttl`. Default one hour. */
  readonly eventTtl?: number
  /** Seconds during which new Events share a lease. They outlive their TTL by at most this, and by at most a twentieth of it. Default 60. */
  readonly leaseReuseSeconds?: number
  /** True if a garbage collector deletes dependents of deleted objects, `--enable-garbage-collector`. Default true. */
  readonly garbageCollection?: boolean
  /** Encryption at rest, `--encryption-provider-config`. Default none. */
  readonly encryption?: EncryptionOptions
}

/** Watch cache settings. */
export interface WatchCacheOptions {
  /** Minimum events kept per resource; at least 2,000. Default 100. 0 disables the watch cache: the back end serves everything. */
  readonly size?: number
  /** Overrides per resource by `group/plural`; `/configmaps` for the core group. */
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

/** Options that connect to etcd through its proxy, if there is one. */
async function throughProxy (storage: StorageOptions, { etcd, relay }: OrchServer['egress']): Promise<StorageOptions> {
  if (etcd === undefined || !('servers' in storage)) return storage
  const servers = new Set([...storage.servers, ...Object.values(storage.overrides ?? {}).flat()])
  const sockets: Record<string, string> = {}
  for (const server of servers) {
    const { protocol, hostname, port } = new URL(server.includes('://') ? server : `http://${server}`)
    sockets[server] = await relay(etcd, { host: withoutBrackets(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)), timeout: ETCD_CONNECT, call: `etcd ${server}` })
  }
  return { ...storage, sockets }
}

const MINUTE = 60_000
/** Milliseconds to connect to etcd through a proxy. */
const ETCD_CONNECT = 3000
const TRIM_EVERY = MINUTE / 2
/** Maximum milliseconds to wait for etcd at start. If its store is too new, the start fails; without an answer it continues. */
const FORMAT_WAIT = 500

export default fp<StoragePluginOptions>(async (fastify, { storage = {}, watchCache = {}, admission = {}, services, allowPrivileged = true, outbound = {} }) => {
  const { prefix = '/registry', mediaType = PROTOBUF_TYPE, compactionInterval = 5 * MINUTE, healthcheckTimeout = 2000, eventTtl, leaseReuseSeconds, garbageCollection, encryption: configured } = storage
  const { clock } = fastify.orch
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const stores = await openStores(await throughProxy(storage, fastify.orch.egress), {
    prefix,
    clock,
    note: (text, level = 'warn') => { fastify.log[level](text) },
    refused: error => { fastify.log.error(error.message) } // a start in progress fails too
  })
  const backends = stores.all.map(({ backend }) => backend)
  if ('servers' in storage) {
    fastify.addHook('onReady', async () => {
      await Promise.race([Promise.allSettled(backends.map(backend => backend.revision())), sleep(FORMAT_WAIT, undefined, { ref: false })])
      const refusal = stores.refusal()
      if (refusal !== undefined) throw refusal
    })
  }

  const observed = observeEncryption(fastify.orch.metrics)
  const encryption = configured === undefined ? undefined : await (await import('../../storage/encryption/index.js')).openEncryption(configured, observed)

  const { rbac, authorizer } = fastify.orch
  const callers = outboundCallers({ ...outbound, resources: () => resources, metrics: fastify.orch.metrics, egress: fastify.orch.egress, naming: fastify.orch.settings.naming, warn: text => { fastify.log.warn(text) } })
  const plugins = await loadPlugins(admission, {
    resources: () => resources,
    authorize: attributes => authorizer.authorize(attributes),
    tolerationSeconds: admission.tolerationSeconds ?? { notReady: 300, unreachable: 300 },
    callers,
    clock,
    gates: fastify.orch.settings.featureGates,
    naming: fastify.orch.settings.naming,
    observePodSecurity: observePodSecurity(fastify.orch.metrics),
    note: text => { fastify.log.warn(text) }
  })
  // First: objects that violate this rule are invalid whatever the other plugins decide.
  if (!allowPrivileged) plugins.unshift((await import('../../admission/privileged-containers.js')).privilegedContainers)
  if (rbac !== undefined) plugins.push((await import('../../admission/plugins/rbac-escalation.js')).escalationCheck({ rbac, authorize: attributes => authorizer.authorize(attributes) }))
  const allocation = services === undefined ? undefined : new (await import('../../registry/services/allocation.js')).ServiceAllocation({ ...services, keepsFirst: fastify.orch.settings.featureGates.enabled('ServiceIPStaticSubrange'), backend: stores.of('', 'services'), prefix, log, observe: observeAddresses(fastify.orch.metrics) })
  const resources: ResourceRegistry = new ResourceRegistry({
    backendOf: (group, plural) => encryption?.of(group, plural, stores.of(group, plural)) ?? stores.of(group, plural),
    allocationOf: (group, plural) => group === '' && plural === 'services' ? allocation : undefined,
    clock,
    prefix,
    mediaType,
    windowSizeOf: (group, plural) => watchCache.sizes?.[`${group}/${plural}`] ?? watchCache.size ?? 100,
    ttlSeconds: eventTtl === undefined ? undefined : eventTtl / 1000, // applies to Events only
    leaseReuseSeconds,
    garbageCollection,
    observerOf: observeStores(fastify.orch.metrics),
    admission: new AdmissionChain(plugins, observeAdmission(fastify.orch.metrics), admission.plugins),
    reader: admissionReader(() => resources),
    gates: fastify.orch.settings.featureGates,
    log
  })
  // Release memory after a burst.
  const trimming = setInterval(() => { for (const { cache } of resources.all()) cache?.trim() }, TRIM_EVERY).unref()
  const limitsItself = 'historyRetention' in storage && storage.historyRetention !== undefined
  const compactions = backends.map(backend => startCompaction(backend, limitsItself ? 0 : compactionInterval, log, clock))

  fastify.orch.resources = resources
  fastify.orch.services = allocation
  fastify.orch.conversionCaller = (await callers.webhooks(undefined)).caller

  const { health, metrics } = fastify.orch
  stores.all.forEach(({ backend, name, endpoint }, at) => {
    health.add(at === 0 ? 'etcd' : `etcd-override-${at - 1}`, () => backend.status(), { timeout: healthcheckTimeout })
    metrics.trackStore(name, () => backend.status(), endpoint)
  })
  encryption?.checks.forEach((check, at) => { health.add(`kms-provider-${at}`, check) })
  observeSpace(fastify.orch, stores.all)
  // Types that are defined later load beside the others, which serve meanwhile.
  let atStart: readonly ResourceStore[] = []
  health.add('informer-sync', () => {
    for (const { cache, type } of atStart) if (cache?.loaded === false) throw new Error(`${type.plural} are not loaded yet`)
  }, { healthz: false, livez: false })

  observeCaches(metrics, resources)
  if (allocation !== undefined) observeRanges(metrics, allocation)
  fastify.addHook('onReady', done => {
    atStart = resources.all()
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
    encryption?.close()
  })
}, { name: 'orch/storage', fastify: '5.x', dependencies: ['orch/health', 'orch/metrics', 'orch/dry-run'] })
