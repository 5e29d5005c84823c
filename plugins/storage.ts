/**
 * The store behind the routes: opens the back end, offers the registry that routes add their resource types
 * to, compacts the history at its interval, and takes care of namespaces. It boots before the routes and
 * loads the caches when all of them are there.
 */
import fp from 'fastify-plugin'
import { AdmissionChain } from '../storage/admission-chain.js'
import type { AdmissionPlugin } from '../storage/admission.js'
import type { Backend } from '../storage/backend.js'
import { startCompaction } from '../storage/compaction.js'
import { isStorageError, reasonOf } from '../storage/errors.js'
import { NamespaceKeeper } from '../storage/namespaces/keeper.js'
import { namespaceLifecycle } from '../storage/namespaces/lifecycle.js'
import { ResourceRegistry } from '../storage/registry.js'
import type { StorageMediaType } from '../storage/resource-store.js'

export interface StoragePluginOptions {
  readonly open: () => Promise<Backend>
  /** `group/resource` to a back end of its own. */
  readonly overrides: ReadonlyMap<string, () => Promise<Backend>>
  readonly prefix: string
  readonly mediaType: StorageMediaType
  /** Events kept in memory for the watches of a resource, 0 for none of its objects in memory. */
  readonly windowSizeOf: (group: string, plural: string) => number
  /** Milliseconds; 0 never compacts. */
  readonly compactionInterval: number
  /** Milliseconds the store may take to prove that it answers. */
  readonly healthTimeout: number
  readonly disabledAdmission: readonly string[]
  readonly admission: readonly AdmissionPlugin[]
}

export default fp<StoragePluginOptions>(async (fastify, options) => {
  const log = (message: string, error: unknown): void => { fastify.log.warn(isStorageError(error) ? { reason: reasonOf(error) } : { err: error }, message) }
  const main = await options.open()
  const others = new Map<string, Backend>()
  for (const [name, open] of options.overrides) others.set(name, await open())
  const backends = [main, ...others.values()]

  const builtIn = [namespaceLifecycle(() => resources)].filter(({ name }) => !options.disabledAdmission.includes(name))
  const resources = new ResourceRegistry({
    backendOf: (group, plural) => others.get(`${group}/${plural}`) ?? main,
    prefix: options.prefix,
    mediaType: options.mediaType,
    windowSizeOf: options.windowSizeOf,
    admission: new AdmissionChain([...builtIn, ...options.admission]),
    log
  })
  const keeper = new NamespaceKeeper(resources, log)
  const compactions = backends.map(backend => startCompaction(backend, options.compactionInterval, log))

  fastify.orch.resources = resources
  fastify.orch.knowsPath = info => {
    const store = info.isResourceRequest ? resources.find(info.group, info.resource) : undefined
    return store !== undefined && resources.served().includes(store) && store.definition.version === info.version &&
      (store.definition.namespaced || info.namespace === '' || info.namespace === info.name) &&
      (info.subresource === '' || store.definition.subresources.some(({ name }) => name === info.subresource))
  }

  const { health, metrics } = fastify.orch
  backends.forEach((backend, at) => {
    health.add(at === 0 ? 'etcd' : `etcd-override-${at - 1}`, () => backend.status(), { timeout: options.healthTimeout })
    metrics.trackStore(at === 0 ? backend.name : `${backend.name}-override-${at - 1}`, () => backend.status())
  })
  health.add('informer-sync', () => {
    for (const { cache, definition } of resources.all()) if (cache?.loaded === false) throw new Error(`${definition.plural} are not loaded yet`)
  }, { healthz: false, livez: false })

  fastify.addHook('onReady', done => {
    health.postStart('start-watch-caches', resources.open())
    health.postStart('bootstrap-system-namespaces', keep())
    for (const store of resources.all()) {
      const { start, end } = store.range('')
      const { group, plural } = store.definition
      metrics.trackObjects(group === '' ? plural : `${plural}.${group}`, () => store.backend.count(start, end))
    }
    done()
  })

  /** Once the store answers; until then it is tried again. */
  async function keep (): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await keeper.start()
      } catch (error) {
        if (closed) return
        if (attempt === 0) log('the namespaces of the cluster could not be made, trying again until they are', error)
        await new Promise(resolve => { setTimeout(resolve, 1000).unref() })
      }
    }
  }

  let closed = false
  fastify.addHook('onClose', async () => {
    closed = true
    keeper.close()
    for (const stop of compactions) stop()
    resources.close()
    await Promise.all(backends.map(backend => backend.close()))
  })
}, { name: 'orch/storage', fastify: '5.x', dependencies: ['orch/health', 'orch/metrics', 'orch/dry-run'] })
