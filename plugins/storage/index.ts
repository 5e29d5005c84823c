/** Opens the back ends, and what stands before and beside them: each is a file of this folder. */
import { compactRegularly } from './compaction.js'
import { openedEncryption } from './encryption.js'
import { refuseNewerFormat, sayWhichAreSilent } from './etcd-at-start.js'
import { DEFAULT_PREFIX, type StorageOptions } from './options.js'
import { reportOn } from './reports.js'
import { openedStores } from './stores.js'
import { plugin } from '../shared/plugin.js'

export type { StorageOptions } from './options.js'

export default plugin<{ readonly storage?: StorageOptions | undefined }>()(async (fastify, { storage = {} }) => {
  const stores = await openedStores(fastify, storage)
  const encryption = await openedEncryption(fastify, storage) // closed after the stores, whose values it reads
  fastify.addHook('onClose', () => stores.close())
  fastify.decorate('orchBackends', {
    prefix: storage.prefix ?? DEFAULT_PREFIX,
    of: (group, plural) => encryption?.of(group, plural, stores.of(group, plural)) ?? stores.of(group, plural),
    unencrypted: stores.of
  })
  reportOn(fastify, { stores: stores.all, encryption, timeouts: storage })
  if ('servers' in storage) {
    refuseNewerFormat(fastify, stores)
    sayWhichAreSilent(fastify, stores)
  }
  compactRegularly(fastify, stores, storage)
}, {
  name: 'orch/storage',
  fastify: '5.x',
  decorators: { fastify: ['orchClock', 'orchEgress', 'orchHealth', 'orchMetrics', 'orchSettings'] }
})
