/** Metrics of encryption at rest, with upstream's names. */
import type { Clock } from '../../event-loop/clock.js'
import type { TransformationObserver } from '../../storage/encryption/observer.js'
import { doubling, type Counter, type Histogram, type Metrics } from '../shared/metric-series.js'
import { keyServiceObservers } from './key-service-metrics.js'

/** Seconds: 5 µs, doubled 13 times. */
const SECONDS = doubling(5e-6, 14)

export function observeEncryption (metrics: Metrics, clock: Clock): TransformationObserver {
  const { counter, histogram } = metrics
  const durations = histogram(
    'apiserver_storage_transformation_duration_seconds', 'Seconds that a value took to be encrypted or decrypted.',
    SECONDS, ['transformation_type']
  )
  const operations = counter(
    'apiserver_storage_transformation_operations_total',
    'Values that were encrypted or decrypted, by provider or key, and status.',
    ['transformation_type', 'transformer_prefix', 'status']
  )
  const misses = counter(
    'apiserver_storage_envelope_transformation_cache_misses_total',
    'Keys that a key service decrypted because they were not in memory.'
  )
    .with()
  const generations = histogram(
    'apiserver_storage_data_key_generation_duration_seconds', 'Seconds that the key of a value took to be generated.',
    SECONDS
  )
    .with()
  const failures = counter(
    'apiserver_storage_data_key_generation_failures_total', 'Keys of values that could not be generated.'
  )
    .with()
  const times = { to_storage: undefined as Histogram | undefined, from_storage: undefined as Histogram | undefined }
  const successes = { to_storage: new Map<string, Counter>(), from_storage: new Map<string, Counter>() }
  let keyServices: ReturnType<typeof keyServiceObservers> | undefined
  return {
    transformed: (direction, prefix, status, seconds) => {
      if (status !== 'OK') return operations.with(direction, prefix, status).add()
      let known = successes[direction].get(prefix)
      if (known === undefined) successes[direction].set(prefix, known = operations.with(direction, prefix, status))
      known.add()
      const time = times[direction] ??= durations.with(direction)
      time.observe(seconds)
    },
    missed: () => { misses.add() },
    generated: seconds => {
      if (seconds === undefined) failures.add()
      else generations.observe(seconds)
    },
    keyService: name => (keyServices ??= keyServiceObservers(metrics, clock))(name)
  }
}
