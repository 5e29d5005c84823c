/** Opens the back ends and their encryption, compacts their history periodically and reports on them. */
import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { EncryptionOptions } from '../../schemas/api/apiserver/encryption.js'
import type { Backend } from '../../storage/backend.js'
import { startCompaction } from '../../storage/compaction.js'
import { failureFields } from '../../storage/errors.js'
import { type BackendOptions, openStores } from '../../storage/open.js'
import type { StorageMediaType } from '../../registry/stored-form.js'
import { withoutRepeats } from '../shared/repeated-failures.js'
import { observeEncryption } from './encryption-metrics.js'
import { throughProxy } from './etcd-proxy.js'
import { observeSpace } from './space.js'

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
  /**
   * Seconds during which new Events share a lease. They outlive their TTL by at most this, and by at most a twentieth
   * of it. Default 60.
   */
  readonly leaseReuseSeconds?: number
  /** True if a garbage collector deletes dependents of deleted objects, `--enable-garbage-collector`. Default true. */
  readonly garbageCollection?: boolean
  /** Encryption at rest, `--encryption-provider-config`. Default none. */
  readonly encryption?: EncryptionOptions
}

/** The back ends of a server. */
export interface Backends {
  /** Prefix of all keys. */
  readonly prefix: string
  /** The back end of a resource. */
  readonly of: (group: string, plural: string) => Backend
  /** The same without encryption, for what is no object. */
  readonly unencrypted: (group: string, plural: string) => Backend
}

const COMPACTION_INTERVAL = 5 * 60_000
/**
 * Maximum milliseconds to wait for etcd at start. If its store is too new, the start fails; without an answer it
 * continues.
 */
const FORMAT_WAIT = 500

export default fp<{ readonly storage?: StorageOptions | undefined }>(async (fastify, { storage = {} }) => {
  const { prefix = '/registry', compactionInterval = COMPACTION_INTERVAL, healthcheckTimeout = 2000 } = storage
  const { orchClock: clock, orchEgress: egress, orchHealth: health, orchMetrics: metrics } = fastify
  const log = withoutRepeats((message, error) => { fastify.log.warn(failureFields(error), message) })
  const stores = await openStores(await throughProxy(storage, egress), {
    prefix,
    clock,
    note: (text, level = 'warn') => { fastify.log[level](text) },
    refused: error => { fastify.log.error(error.message) } // a start in progress fails too
  })
  const backends = stores.all.map(({ backend }) => backend)
  const observed = observeEncryption(metrics)
  const encryption = storage.encryption === undefined
    ? undefined
    : await (await import('../../storage/encryption/index.js')).openEncryption(storage.encryption, observed)
  fastify.decorate('orchBackends', {
    prefix,
    of: (group, plural) => encryption?.of(group, plural, stores.of(group, plural)) ?? stores.of(group, plural),
    unencrypted: stores.of
  })

  const limitsItself = 'historyRetention' in storage && storage.historyRetention !== undefined
  const interval = limitsItself ? 0 : compactionInterval
  const compactions = backends.map(backend => startCompaction(backend, interval, log, clock))
  stores.all.forEach(({ backend, name, endpoint }, at) => {
    health.add(at === 0 ? 'etcd' : `etcd-override-${at - 1}`, () => backend.status(), { timeout: healthcheckTimeout })
    metrics.trackStore(name, () => backend.status(), endpoint)
  })
  encryption?.checks.forEach((check, at) => { health.add(`kms-provider-${at}`, check) })
  observeSpace({ health, metrics }, stores.all)

  if ('servers' in storage) {
    fastify.addHook('onReady', async () => {
      const answers = Promise.allSettled(backends.map(backend => backend.revision()))
      await Promise.race([answers, sleep(FORMAT_WAIT, undefined, { ref: false })])
      const refusal = stores.refusal()
      if (refusal !== undefined) throw refusal
    })
  }
  fastify.addHook('onClose', async () => {
    for (const stop of compactions) stop()
    await stores.close()
    encryption?.close()
  })
}, {
  name: 'orch/storage',
  fastify: '5.x',
  decorators: { fastify: ['orchClock', 'orchEgress', 'orchHealth', 'orchMetrics'] }
})
