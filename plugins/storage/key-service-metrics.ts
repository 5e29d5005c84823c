/** Metrics of key services of version 2, with upstream's names. Those of calls are there once a service is called. */
import type { Clock } from '../../event-loop/clock.js'
import type { KeyServiceObserver } from '../../storage/encryption/observer.js'
import { digest, SERVER, serverHash } from '../shared/hashed-labels.js'
import { doubling, type Metrics } from '../shared/metric-series.js'

const SECONDS = doubling(1e-4, 20)
const NAME = 'apiserver_envelope_encryption'
/** How many keys of services are remembered with their hash. */
const MAX_HASHES = 1000

export function keyServiceObservers (metrics: Metrics, clock: Clock): (provider: string) => KeyServiceObserver {
  const { counter, gauge, histogram } = metrics
  const USE = ['transformation_type', 'provider_name', 'key_id_hash', SERVER]
  const calls = histogram(
    `${NAME}_kms_operations_latency_seconds`, 'Seconds of a call of a key service.', SECONDS,
    ['provider_name', 'method_name', 'grpc_status_code']
  )
  const uses = counter(`${NAME}_key_id_hash_total`, 'Values that were encrypted or decrypted by way of a key.', USE)
  const usedAt = gauge(`${NAME}_key_id_hash_last_timestamp_seconds`, 'When a key was last used.', USE)
  const namedAt = gauge(
    `${NAME}_key_id_hash_status_last_timestamp_seconds`, 'When a key service last said that it uses a key.',
    ['provider_name', 'key_id_hash', SERVER]
  )
  const misnamed = counter(
    `${NAME}_invalid_key_id_from_status_total`, 'Names of keys that a key service may not give.',
    ['provider_name', 'error']
  )
  const kept = gauge(
    `${NAME}_dek_source_cache_size`, 'Seeds in memory, each of which the service decrypts after a restart.',
    ['provider_name']
  )
  const server = serverHash()
  const hashes = new Map<string, string>()
  const hashOf = (keyId: string): string => {
    const known = hashes.get(keyId)
    if (known !== undefined) return known
    if (hashes.size >= MAX_HASHES) hashes.clear()
    const hash = digest(keyId)
    hashes.set(keyId, hash)
    return hash
  }
  return provider => ({
    called: (method, status, seconds) => {
      calls.with(provider, `/v2.KeyManagementService/${method}`, status).observe(seconds)
    },
    used: (direction, keyId) => {
      const use = [direction, provider, hashOf(keyId), server] as const
      uses.with(...use).add()
      usedAt.with(...use).set(clock.wall() / 1000)
    },
    named: keyId => { namedAt.with(provider, hashOf(keyId), server).set(clock.wall() / 1000) },
    misnamed: how => { misnamed.with(provider, how).add() },
    kept: seeds => { kept.with(provider).set(seeds) }
  })
}
