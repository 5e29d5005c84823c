/** Reads configuration files in YAML or JSON strictly. Errors name the flag, the file and the field. */
import { parseYaml } from '../schemas/codec/yaml/yaml.js'
import type { Message } from '../schemas/language/declare.js'
import { saidOf, isDecodeError } from '../schemas/language/decode-error.js'
import { ConfigurationError, readConfiguration } from '../admission/configuration.js'
import { readBytes } from './files.js'
import { FlagError } from './flag.js'
import type { FlagName } from './flags/index.js'
import { ownDocument, type Source } from './public-settings.js'

/**
 * Decodes the object in a flag's file and applies defaults.
 * @param messages one per supported apiVersion
 * @throws FlagError
 */
export function readDocument<T extends object> (source: Source, messages: ReadonlyArray<Message<T>>): T {
  const { flag, path } = source
  try {
    return readConfiguration<T>('', { value: ownDocument(source, documentIn(flag, path)) }, messages)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new FlagError(flag, path, error.why, { cause: error })
  }
}

/** Higher limits than for client requests. YAML of so many tokens takes a few seconds. */
const BOUNDS = { values: 1_000_000, members: 1_000_000, entries: 1_000_000, tokens: 600_000 }

/**
 * Parses a file; rejects duplicate members.
 * @param path of the file, if the flag's file refers to it
 * @param what describes that file in errors
 * @throws FlagError
 */
export function documentIn (flag: FlagName, flagged: string, path = flagged, what = ''): unknown {
  const where = path === flagged ? '' : `${what} in ${path}: `
  const bytes = readBytes(flag, path, flagged, where)
  try {
    const { value, duplicates } = parseYaml(bytes, BOUNDS)
    if (duplicates.length > 0) throw new FlagError(flag, flagged, `${where}duplicate field "${duplicates[0] ?? ''}"`)
    return value
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new FlagError(flag, flagged, `${where}${saidOf(error, 'it')}`, { cause: error })
  }
}
