/** Upstream's error messages for bodies that are not the expected object. */
import { DecodeError, isDecodeError } from '../schemas/language/decode-error.js'
import { Facts } from '../schemas/language/types.js'
import type { Message } from '../schemas/language/declare.js'
import type { WaitingSteps } from '../schemas/steps.js'

const truncate = (text: string): string => text.length > 100 ? `${text.slice(0, 100)}…` : text

/** The type that the body names; missing parts default to the expected type. Undefined if unreadable. */
function typeOf (message: Message, value: unknown): { kind: string, apiVersion: string } | undefined {
  const { type } = message[Facts]
  if (type === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { kind, apiVersion } = value as Partial<Record<string, unknown>> // objects have members
  const [kindName, version] = [kind ?? '', apiVersion ?? '']
  if (typeof kindName !== 'string' || typeof version !== 'string') return undefined
  return { kind: kindName === '' ? type.kind : kindName, apiVersion: version === '' ? type.apiVersion : version }
}

/** @param why describes the error in the body */
export function decodeErrorText (message: Message, value: unknown, why: string): string {
  const expected = message[Facts].type
  if (expected === undefined) return why
  const sent = typeOf(message, value)
  if (sent === undefined) return unrecognized(message, why)
  if (sent.kind === expected.kind && sent.apiVersion !== expected.apiVersion && sent.apiVersion !== expected.alsoAs &&
    !expected.anyVersion) {
    return `the API version in the data (${truncate(sent.apiVersion)}) does not match the expected API version ` +
      `(${expected.apiVersion})`
  }
  const version = sent.apiVersion.slice(sent.apiVersion.lastIndexOf('/') + 1)
  return `${truncate(sent.kind)} in version ${JSON.stringify(truncate(version))} cannot be handled as a ` +
    `${expected.kind}: ${why}`
}

/** The message for a body without a readable type. */
export function unrecognized (message: Message, why: string): string {
  const { type, name } = message[Facts]
  return `the object provided is unrecognized (must be of type ${type?.kind ?? name}): couldn't get version/kind; ` +
    `json parse error: ${why}`
}

/** Adds the type to the message of DecodeErrors of `make`, which may return a promise. */
export function withDecodeErrorText<T> (format: (why: string) => string, make: () => T): T {
  try {
    const result = make()
    return result instanceof Promise
      ? result.catch((error: unknown) => { throw explained(format, error) }) as T // as it was
      : result
  } catch (error) {
    throw explained(format, error)
  }
}

/** The same of steps. */
export function * explainingSteps<T> (format: (why: string) => string, steps: WaitingSteps<T>): WaitingSteps<T> {
  try {
    return yield * steps
  } catch (error) {
    throw explained(format, error)
  }
}

const explained = (format: (why: string) => string, error: unknown): unknown =>
  isDecodeError(error) ? new DecodeError(format(error.message), { cause: error }) : error
