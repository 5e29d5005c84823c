/**
 * Thrown by decoders for malformed input, with one sentence for the client. Decoders throw nothing else; routes answer
 * it with 400.
 */
export class DecodeError extends Error {
  constructor (message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DecodeError'
  }
}

/** A value is not what its place expects. */
export class MismatchError extends DecodeError {
  /** The message without the value, which may be secret. */
  readonly withoutValue: string

  /** @param type of the value, if it may be shown */
  constructor (expectation: string, got: string, type = '') {
    super(`${expectation}, got ${got}`)
    this.withoutValue = type === '' ? expectation : `${expectation}, got ${type}`
  }
}

/**
 * Something is wrong with a document as a whole. It is a body to its client, and a file, an answer or an object to
 * others.
 */
export class DocumentError extends DecodeError {
  /** A predicate: `is not valid JSON: it is empty`. */
  readonly problem: string

  constructor (problem: string, options?: { cause?: unknown }) {
    super(`the body ${problem}`, options)
    this.problem = problem
  }
}

/** Too many values or map entries. */
export class TooManyError extends DocumentError {
  /** `50000 values`. */
  readonly limit: string

  constructor (limit: string) {
    super(`holds more than ${limit}`)
    this.limit = limit
  }
}

/** The sentence of an error about a document, with what the document is called. */
export const saidOf = (error: DecodeError, subject: string): string =>
  error instanceof DocumentError ? `${subject} ${error.problem}` : error.message

export function isDecodeError (error: unknown): error is DecodeError {
  return error instanceof DecodeError
}

/** The JSON type of a value, for error messages. */
export function nameOfType (value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'object': return 'an object'
    case 'string': return 'a string'
    case 'number': case 'bigint': return 'a number'
    case 'boolean': return 'a boolean'
    default: return `a ${typeof value}`
  }
}
