/**
 * Plugin configurations: documents of `--admission-control-config-file` or values of the host, decoded strictly. Errors
 * name plugin, file and field.
 */
import { UNBOUNDED } from '../schemas/codec/json/parse.js'
import { isDecodeError } from '../schemas/language/decode-error.js'
import { decode } from '../schemas/language/decode.js'
import { applyDefaults } from '../schemas/language/defaults.js'
import { validateMessage } from '../schemas/language/validation.js'
import { Facts, type Message } from '../schemas/language/declare.js'
import { describe } from '../schemas/status.js'

/** Configuration of one plugin. */
export interface PluginConfiguration {
  /** The parsed JSON or YAML. */
  readonly value: unknown
  /** The file, for errors. Default: a value of the host. */
  readonly file?: string
  /** Base of relative paths. Default the working directory. */
  readonly folder?: string
}

/** Describes in one sentence what is wrong with a plugin's configuration. */
export class ConfigurationError extends Error {
  constructor (plugin: string, { file }: PluginConfiguration, readonly why: string, options?: ErrorOptions) {
    super(
      `the configuration of admission plugin ${plugin}${file === undefined ? '' : ` in ${file}`} is wrong: ${why}`,
      options
    )
    this.name = 'ConfigurationError'
  }
}

/**
 * Decodes the configuration as the first message that matches its kind and apiVersion, with defaults. A message without
 * a kind matches anything.
 * @throws ConfigurationError
 */
export function readConfiguration<T extends object> (
  plugin: string, given: PluginConfiguration, messages: ReadonlyArray<Message<T>>
): T {
  const refuse = (why: string, cause?: unknown): never => {
    throw new ConfigurationError(plugin, given, why, { cause })
  }
  const { value } = given
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('it is not an object')
  const { kind = '', apiVersion = '' } = value as { kind?: unknown, apiVersion?: unknown }
  const message = messages.find(candidate => {
    const { type } = candidate[Facts]
    return type === undefined || (type.kind === kind && type.apiVersion === apiVersion)
  })
  if (message === undefined) {
    const expectedTypes = messages.map(candidate =>
      `${candidate[Facts].type?.kind ?? ''} of ${candidate[Facts].type?.apiVersion ?? ''}`)
    return refuse(kind === '' || apiVersion === ''
      ? `it needs kind and apiVersion: ${expectedTypes.join(' or ')}`
      : `it is ${String(kind)} of ${String(apiVersion)}, not ${expectedTypes.join(' or ')}`)
  }
  try {
    const { object, unknown } = decode(message, value, UNBOUNDED) // the file's size was limited when it was read
    if (unknown.length > 0) return refuse(`unknown field ${unknown.map(path => JSON.stringify(path)).join(', ')}`)
    applyDefaults(message, object)
    const [finding] = validateMessage(message, object)
    return finding === undefined ? object : refuse(`${finding.field}: ${describe(finding)}`)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return refuse(error.message, error)
  }
}
