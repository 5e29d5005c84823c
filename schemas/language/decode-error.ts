/**
 * What bytes or text that can't be understood fail with: one sentence for the client that says what was
 * wrong and where. A decoder throws nothing else; the routes answer it with 400.
 */
export class DecodeError extends Error {
  constructor (message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DecodeError'
  }
}

/** Of what holds more values than it may. */
export class TooManyError extends DecodeError {}

export function isDecodeError (error: unknown): error is DecodeError {
  return error instanceof DecodeError
}

/** How a message to a client names the type of a JSON value. */
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
