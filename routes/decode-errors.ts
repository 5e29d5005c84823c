/** Why a body is not the object it has to be, in the words clients know. */
import { DecodeError, isDecodeError } from '../schemas/language/decode-error.js'
import { Facts } from '../schemas/language/types.js'
import type { Message } from '../schemas/index.js'

const shown = (text: string): string => text.length > 100 ? `${text.slice(0, 100)}…` : text

/** What a body says that it is, by default what it has to be. Undefined where it says nothing that could be understood. */
function typeOf (message: Message, value: unknown): { kind: string, apiVersion: string } | undefined {
  const { type } = message[Facts]
  if (type === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { kind, apiVersion } = value as Partial<Record<string, unknown>> // an object
  const [said, version] = [kind ?? '', apiVersion ?? '']
  if (typeof said !== 'string' || typeof version !== 'string') return undefined
  return { kind: said === '' ? type.kind : said, apiVersion: version === '' ? type.apiVersion : version }
}

/** @param why what is wrong with a body of that value */
export function decodeErrorText (message: Message, value: unknown, why: string): string {
  const wanted = message[Facts].type
  if (wanted === undefined) return why
  const sent = typeOf(message, value)
  if (sent === undefined) return unrecognized(message, why)
  if (sent.kind === wanted.kind && sent.apiVersion !== wanted.apiVersion && sent.apiVersion !== wanted.alsoAs && !wanted.anyVersion) {
    return `the API version in the data (${shown(sent.apiVersion)}) does not match the expected API version (${wanted.apiVersion})`
  }
  const version = sent.apiVersion.slice(sent.apiVersion.lastIndexOf('/') + 1)
  return `${shown(sent.kind)} in version ${JSON.stringify(shown(version))} cannot be handled as a ${wanted.kind}: ${why}`
}

/** Of a body that does not even say what it is. */
export function unrecognized (message: Message, why: string): string {
  const { type, name } = message[Facts]
  return `the object provided is unrecognized (must be of type ${type?.kind ?? name}): couldn't get version/kind; json parse error: ${why}`
}

/** What is thrown within, in those words. */
export async function withDecodeErrorText<T> (words: (why: string) => string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (error) {
    throw isDecodeError(error) ? new DecodeError(words(error.message), { cause: error }) : error
  }
}
