/** Errors of calls to other servers and of their configuration: one sentence, and a code for decisions. */

export type ClientErrorCode =
  /** No connection, a broken one, or a TLS failure. */
  | 'Unreachable'
  /** The deadline passed. The request may have been processed. */
  | 'Timeout'
  /** The response, its headers or a file exceeds its limit. */
  | 'TooLarge'
  /** A response other than 2xx, redirects included. */
  | 'BadStatus'
  /** A response that is invalid HTTP, incomplete or malformed. */
  | 'BadAnswer'
  /** A missing or invalid kubeconfig, or a file it names. Retries cannot succeed. */
  | 'Config'

export interface ClientErrorOptions {
  readonly cause?: unknown
  readonly status?: number
  readonly body?: Buffer
  readonly retryAfter?: number
  readonly unanswered?: boolean
}

export class ClientError extends Error {
  readonly code: ClientErrorCode
  /** Status of the response, for BadStatus. */
  readonly status: number | undefined
  /** Body of a BadStatus response, if readable; untrusted and limited in size. */
  readonly body: Buffer | undefined
  /** Milliseconds of the response's Retry-After. */
  readonly retryAfter: number | undefined
  /**
   * The connection ended after the request was sent and before the response: a kept-alive connection may have been
   * closed.
   */
  readonly unanswered: boolean

  constructor (code: ClientErrorCode, message: string, options: ClientErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ClientError'
    this.code = code
    this.status = options.status
    this.body = options.body
    this.retryAfter = options.retryAfter
    this.unanswered = options.unanswered === true
  }
}

export function isClientError (error: unknown, code?: ClientErrorCode): error is ClientError {
  return error instanceof ClientError && (code === undefined || error.code === code)
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by the peer',
  EPIPE: 'connection closed by the peer',
  UND_ERR_SOCKET: 'connection closed by the peer',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is signed by an unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself and not trusted',
  NO_SUBJECT_ALT_NAME: 'its certificate has no subject alternative name, and its common name is not believed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ENOENT: 'there is no such file',
  EACCES: 'this user has no permission',
  EISDIR: 'it is a folder'
}

const TIMEOUTS: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming'
}

export const codeOf = (error: unknown): string => error instanceof Error && 'code' in error ? String(error.code) : ''

/** Describes an error in one line. */
export function reasonOf (error: unknown): string {
  const code = codeOf(error)
  if (Object.hasOwn(WORDS, code)) return WORDS[code] ?? code
  // Several addresses failed: use the first error.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim()
}

/** Converts errors of undici and sockets. @param call names caller and peer: `token-webhook: https://auth.example` */
export function classify (error: unknown, call: string): ClientError {
  if (error instanceof ClientError) return error
  const code = codeOf(error)
  if (Object.hasOwn(TIMEOUTS, code)) {
    return new ClientError('Timeout', `${call}: ${TIMEOUTS[code] ?? code}`, { cause: error })
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ClientError('TooLarge', `${call}: the headers of the answer are too large`, { cause: error })
  }
  // undici asserts on responses that its parser accepts, such as a status below 100.
  if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code === 'ERR_ASSERTION') {
    return new ClientError('BadAnswer', `${call}: the answer is not valid HTTP`, { cause: error })
  }
  return new ClientError('Unreachable', `${call}: ${reasonOf(error)}`, { cause: error })
}

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE', 'INVALID_CA', 'INVALID_PURPOSE', 'ERR_TLS_CERT_ALTNAME_INVALID', 'NO_SUBJECT_ALT_NAME'
])

/** True if the peer's certificate was rejected. */
export const isCertificateRefused = (error: unknown): boolean => isClientError(error, 'Unreachable') &&
  CERTIFICATE_CODES.has(codeOf(error.cause))
