/** Opens the back ends and their encryption, and compacts their history periodically. */
import type { Backend } from '../../storage/backend.js'
import type { Encryption } from '../../storage/encryption/index.js'
import { startCompaction } from '../../storage/compaction.js'
import { failureFields } from '../../storage/errors.js'
import { openStores } from '../../storage/open.js'
import { followConfiguration } from '../shared/followed-configuration.js'
import { withoutRepeats } from '../shared/repeated-failures.js'
import { observeEncryption } from './encryption-metrics.js'
import { throughProxy } from './etcd-proxy.js'
import { refuseNewerFormat } from './format.js'
import type { StorageOptions } from './options.js'
import { reportOn } from './reports.js'
import { plugin, type Having } from '../../answers/server.js'

export type { StorageOptions } from './options.js'

/** @returns a function that ends it */
async function followed (
  fastify: Having<'orchClock' | 'orchMetrics'>, encryption: Encryption | undefined,
  file: StorageOptions['encryptionFile']
): Promise<(() => void) | undefined> {
  if (encryption === undefined || file === undefined) return undefined
  const { log, orchMetrics: metrics, orchClock: clock } = fastify
  return await followConfiguration({
    path: file.path, of: 'encryption', what: 'providers of encryption',
    replace: async () => { await encryption.replace(await file.read()) }
  }, { log, metrics, clock })
}

/** Says what is wrong before the failures that follow from it do. */
function sayIfSilent ({ log }: Having<never>, backend: Backend, endpoint = ''): void {
  backend.status().catch((error: unknown) => {
    log.error(failureFields(error), `etcd at ${endpoint} does not answer: the server is not ready until it does`)
  })
}

const COMPACTION_INTERVAL = 5 * 60_000

export default plugin<{ readonly storage?: StorageOptions | undefined }>()(async (fastify, { storage = {} }) => {
  const { prefix = '/registry', compactionInterval = COMPACTION_INTERVAL } = storage
  const { orchClock: clock, orchEgress: egress, orchMetrics: metrics } = fastify
  const stores = await openStores(await throughProxy(storage, egress), {
    prefix,
    clock,
    note: (text, level = 'warn') => { fastify.log[level](text) },
    refused: error => { fastify.log.error(error.message) } // a start in progress fails too
  })
  const observed = observeEncryption(metrics, clock)
  const encryption = storage.encryption === undefined
    ? undefined
    : await (await import('../../storage/encryption/index.js'))
        .openEncryption(storage.encryption, observed, storage.encryptionFile !== undefined)
  const unfollow = await followed(fastify, encryption, storage.encryptionFile)
  fastify.decorate('orchBackends', {
    prefix,
    of: (group, plural) => encryption?.of(group, plural, stores.of(group, plural)) ?? stores.of(group, plural),
    unencrypted: stores.of
  })
  reportOn(fastify, { stores: stores.all, encryption, timeouts: storage })
  if ('servers' in storage) {
    refuseNewerFormat(fastify, stores)
    for (const { backend, endpoint } of stores.all) sayIfSilent(fastify, backend, endpoint)
  }

  const limitsItself = 'historyRetention' in storage && storage.historyRetention !== undefined
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const compactions = stores.all.map(({ backend }) =>
    startCompaction(backend, limitsItself ? 0 : compactionInterval, log, clock))
  fastify.addHook('onClose', async () => {
    for (const stop of compactions) stop()
    await stores.close()
    unfollow?.()
    encryption?.close()
  })
}, {
  name: 'orch/storage',
  fastify: '5.x',
  decorators: { fastify: ['orchClock', 'orchEgress', 'orchHealth', 'orchMetrics', 'orchSettings'] }
})
