/** Encryption at rest: opened, observed, and changed with the file that configures it. */
import type { Encryption } from '../../storage/encryption/index.js'
import type { Having } from '../shared/plugin.js'
import { followConfiguration } from '../shared/followed-configuration.js'
import { observeEncryption } from './encryption-metrics.js'
import type { StorageOptions } from './options.js'

type Server = Having<'orchClock' | 'orchMetrics'>

/** Its metrics are there without it too. @returns undefined where nothing is encrypted */
export async function openedEncryption (
  fastify: Server, { encryption: options, encryptionFile: file }: StorageOptions
): Promise<Encryption | undefined> {
  const observer = observeEncryption(fastify.orchMetrics, fastify.orchClock)
  if (options === undefined) return undefined
  const { openEncryption } = await import('../../storage/encryption/index.js')
  const encryption = await openEncryption(options, observer, file !== undefined)
  const unfollow = file === undefined ? undefined : await followed(fastify, encryption, file)
  fastify.addHook('onClose', async () => {
    unfollow?.()
    encryption.close()
  })
  return encryption
}

/** @returns a function that ends it */
async function followed (
  { log, orchMetrics: metrics, orchClock: clock }: Server, encryption: Encryption,
  file: NonNullable<StorageOptions['encryptionFile']>
): Promise<() => void> {
  return await followConfiguration({
    path: file.path, of: 'encryption', what: 'providers of encryption',
    replace: async () => { await encryption.replace(await file.read()) }
  }, { log, metrics, clock })
}
