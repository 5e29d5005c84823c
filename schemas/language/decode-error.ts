/** Thrown by decoders for malformed input, with one sentence for the client. Decoders throw nothing else; routes answer it with 400. */
export class DecodeError extends Error {
  constructor (message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DecodeError'
  }
}

/** Too many values or map entries. */
export class TooManyError extends DecodeError {}

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
