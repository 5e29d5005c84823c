/** The configuration of ImagePolicyWebhook, a document without a kind. */
import { resolve } from 'node:path'
import { ConfigurationError, type PluginConfiguration } from '../configuration.js'
import { isObject } from '../../schemas/language/values.js'

export interface ImagePolicyConfiguration {
  readonly kubeConfigFile: string
  /** Milliseconds for which results are cached; 0 disables the cache. */
  readonly allowTTL: number
  readonly denyTTL: number
  /** Milliseconds before the second attempt. */
  readonly retryBackoff: number
  /** Whether pods are admitted if the server is unavailable. */
  readonly defaultAllow: boolean
}

const SECOND = 1000
const MINUTE = 60 * SECOND

/** Unit in milliseconds, default for 0, and bounds. */
const TIMES = {
  allowTTL: { unit: SECOND, default: 5 * MINUTE, min: SECOND, max: 30 * MINUTE },
  denyTTL: { unit: SECOND, default: 30 * SECOND, min: SECOND, max: 30 * MINUTE },
  retryBackoff: { unit: 1, default: 500, min: 1, max: 5 * MINUTE }
}
const FIELDS: ReadonlySet<string> = new Set(['kubeConfigFile', 'defaultAllow', ...Object.keys(TIMES)])
/** Means zero time. */
const NONE = -1

/** @throws ConfigurationError */
export function imagePolicyIn (plugin: string, given: PluginConfiguration | undefined): ImagePolicyConfiguration {
  const refuse = (why: string): never => { throw new ConfigurationError(plugin, given ?? { value: undefined }, why) }
  if (given === undefined) {
    return refuse('it needs one, which names a kubeconfig: give it in --admission-control-config-file')
  }
  const whole = isObject(given.value) ? given.value : refuse('it is not an object')
  const other = Object.keys(whole).find(name => name !== 'imagePolicy')
  if (other !== undefined) refuse(`unknown field ${JSON.stringify(other)}`)
  const fields = isObject(whole['imagePolicy']) ? whole['imagePolicy'] : refuse('imagePolicy: expected an object')
  const unknown = Object.keys(fields).find(name => !FIELDS.has(name))
  if (unknown !== undefined) refuse(`unknown field ${JSON.stringify(`imagePolicy.${unknown}`)}`)
  const { kubeConfigFile, defaultAllow = false } = fields
  if (typeof kubeConfigFile !== 'string' || kubeConfigFile === '') {
    return refuse('imagePolicy.kubeConfigFile: Required value')
  }
  if (typeof defaultAllow !== 'boolean') return refuse('imagePolicy.defaultAllow: expected true or false')
  const time = (name: keyof typeof TIMES): number => {
    const { unit, default: defaultValue, min, max } = TIMES[name]
    const value = fields[name] ?? 0
    if (typeof value !== 'number' || !Number.isInteger(value)) return refuse(`imagePolicy.${name}: expected an integer`)
    if (value === 0) return defaultValue
    if (value === NONE) return 0
    return value * unit >= min && value * unit <= max
      ? value * unit
      : refuse(`imagePolicy.${name}: must be between ${min / unit} and ${max / unit}`)
  }
  return {
    kubeConfigFile: resolve(given.folder ?? '', kubeConfigFile), allowTTL: time('allowTTL'), denyTTL: time('denyTTL'),
    retryBackoff: time('retryBackoff'), defaultAllow
  }
}
