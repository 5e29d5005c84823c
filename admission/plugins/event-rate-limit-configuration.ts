/** The configuration of EventRateLimit. */
import { apiPackage, int32, list, string } from '../../schemas/language/declare.js'
import { readConfiguration, ConfigurationError, type PluginConfiguration } from '../configuration.js'

const NAME = 'EventRateLimit'
const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const
export type LimitType = typeof TYPES[number]

export interface Limit {
  readonly type: LimitType
  /** Events per second. */
  readonly qps: number
  readonly burst: number
  /** Maximum number of keys. */
  readonly cacheSize: number
}

const CACHE_SIZE = 4096

const { message, kind } = apiPackage('eventratelimit.admission.orch.io', 'v1alpha1', 'io.orch.eventratelimit.v1alpha1')
const Configuration = kind('Configuration', 'How many events there may be.', {
  limits: list(null, 'Limits, which all hold.', message('Limit', 'A limit on events.', {
    type: string(null, 'What is limited.', { required: true, values: TYPES, closed: true }),
    qps: int32(null, 'Events a second.', { required: true }),
    burst: int32(null, 'Events at once.', { required: true }),
    cacheSize: int32(null, 'Keys that are remembered.')
  }))
})

/** @throws ConfigurationError, also without a configuration, as there are no default limits */
export function eventLimits (given: PluginConfiguration | undefined): Limit[] {
  if (given === undefined) {
    throw new ConfigurationError(
      NAME, { value: undefined }, 'there is none; say in --admission-control-config-file what is limited'
    )
  }
  const { limits = [] } = readConfiguration(NAME, given, [Configuration])
  const refuse = (field: string, value: unknown, why: string): never => {
    throw new ConfigurationError(NAME, given, `${field}: Invalid value: ${String(value)}: ${why}`)
  }
  if (limits.length === 0) refuse('limits', '[]', 'must not be empty')
  return limits.map(({ type, qps, burst, cacheSize = 0 }, index) => {
    if (burst <= 0) refuse(`limits[${index}].burst`, burst, 'must be positive')
    if (qps <= 0) refuse(`limits[${index}].qps`, qps, 'must be positive')
    if (cacheSize < 0 && type !== 'Server') refuse(`limits[${index}].cacheSize`, cacheSize, 'must not be negative')
    return { type, qps, burst, cacheSize: cacheSize > 0 ? cacheSize : CACHE_SIZE }
  })
}
