/** Compacts the history of the stores every few minutes. */
import { startCompaction } from '../../storage/compaction.js'
import { failureFields } from '../../storage/errors.js'
import type { Stores } from '../../storage/open.js'
import type { Having } from '../shared/plugin.js'
import { withoutRepeats } from '../shared/repeated-failures.js'
import type { StorageOptions } from './options.js'

/** Milliseconds. */
const INTERVAL = 5 * 60_000

export function compactRegularly (fastify: Having<'orchClock'>, stores: Stores, storage: StorageOptions): void {
  const { compactionInterval = INTERVAL } = storage
  const limitsItself = 'historyRetention' in storage && storage.historyRetention !== undefined
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const compactions = stores.all.map(({ backend }) =>
    startCompaction(backend, limitsItself ? 0 : compactionInterval, log, fastify.orchClock))
  fastify.addHook('onClose', async () => { for (const stop of compactions) stop() })
}
