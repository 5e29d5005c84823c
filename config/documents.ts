/** Configuration files in YAML or JSON that flags name, strictly decoded: an error names the flag, the file and the field. */
import { isDecodeError, parseYaml } from '../schemas/index.js'
import type { Message } from '../schemas/index.js'
import { ConfigurationError, readConfiguration } from '../admission/configuration.js'
import { readFile } from './files.js'
import { FlagError } from './flag.js'
import type { FlagName } from './flags/index.js'

/**
 * The object in the file that a flag names, with defaults.
 * @param messages one for each apiVersion it may have
 * @throws FlagError
 */
export function readDocument<T extends object> (flag: FlagName, path: string, messages: ReadonlyArray<Message<T>>): T {
  try {
    return readConfiguration<T>('', { value: documentIn(flag, path) }, messages)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new FlagError(flag, path, error.why, { cause: error })
  }
}

/** Of a file: who starts the server may have more to say than a client. */
const BOUNDS = { values: 1_000_000, members: 1_000_000, entries: 1_000_000 }

/**
 * What YAML or JSON says, without members that are there twice.
 * @param path of the file, where it is not that of the flag but one that this names
 * @param what the file is, for errors, where the flag names another file
 * @throws FlagError
 */
export function documentIn (flag: FlagName, flagged: string, path = flagged, what = ''): unknown {
  const where = path === flagged ? '' : `${what} in ${path}: `
  const bytes = Buffer.from(readFile(flag, path, flagged, where))
  try {
    const { value, duplicates } = parseYaml(bytes, BOUNDS)
    if (duplicates.length > 0) throw new FlagError(flag, flagged, `${where}duplicate field "${duplicates[0] ?? ''}"`)
    return value
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new FlagError(flag, flagged, `${where}${error.message.replace('the body', 'it')}`, { cause: error })
  }
}
