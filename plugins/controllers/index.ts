/**
 * Starts the controllers when the server is ready, and stops them before the store closes. Controllers that readiness
 * depends on register a post-start hook.
 */
import type { Leadership } from '../../controllers/leadership.js'
import { failureFields } from '../../storage/errors.js'
import { withoutRepeats } from '../shared/repeated-failures.js'
import { plugin } from '../shared/plugin.js'
import { bootstrap, STORAGE_VERSIONS_HOOK, type BootstrapSettings } from './bootstrap.js'
import { observeQueues } from './queue-metrics.js'
import { Starter } from './start-in-order.js'
import { NEEDS, starts, type StartsSettings } from './starts.js'

export interface ControllersOptions extends BootstrapSettings, StartsSettings {
  /** Default this process alone. */
  readonly leadership?: Leadership | undefined
}

export default plugin<ControllersOptions>()(async (fastify, { leadership, ...settings }) => {
  const { orchHealth: health, orchResources: resources } = fastify
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const options = { resources, log, observeQueue: observeQueues(fastify.orchMetrics) }
  const first = await bootstrap(fastify, options, settings)
  fastify.decorate('orchStorageVersions', first.storageVersions)
  const starter = new Starter([...first.starts, ...await starts(fastify, options, settings)], {
    log, leadership, first: [STORAGE_VERSIONS_HOOK],
    postStart: (name, finished) => { health.postStart(name, finished) }
  })

  fastify.addHook('onReady', done => {
    starter.start()
    done()
  })
  fastify.addHook('onClose', async () => { await starter.close() })
}, { name: 'orch/controllers', fastify: '5.x', decorators: { fastify: NEEDS } })
