/** What a call to another server, or a file that says how to make one, can fail with: one sentence, and a code to decide by. */

export type ClientErrorCode =
  /** No connection, or it broke, or its TLS was refused. */
  | 'Unreachable'
  /** It took longer than it may. What was asked for may have happened. */
  | 'Timeout'
  /** The answer, its headers or a file is larger than it may be. */
  | 'TooLarge'
  /** Answered, and not with 2xx; redirects among them, as none is followed. */
  | 'BadStatus'
  /** What was answered is not HTTP, not whole, or not of the form it has to be. */
  | 'BadAnswer'
  /** The kubeconfig, or a file it names, is missing or wrong: trying again without a change is of no use. */
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
  /** Of the answer, for BadStatus. */
  readonly status: number | undefined
  /** What was answered with a BadStatus, where it could be read; untrusted, and bounded. */
  readonly body: Buffer | undefined
  /** Milliseconds the peer asked to be left alone. */
  readonly retryAfter: number | undefined
  /** The connection ended when the question was on its way and before a byte of the answer: one that was kept may have been closed meanwhile. */
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

/** In words, on one line. */
export function reasonOf (error: unknown): string {
  const code = codeOf(error)
  if (Object.hasOwn(WORDS, code)) return WORDS[code] ?? code
  // Several addresses were tried: why the first failed.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim()
}

/** What the HTTP library or a socket failed with. @param call names caller and peer: `token-webhook: https://auth.example` */
export function classify (error: unknown, call: string): ClientError {
  if (error instanceof ClientError) return error
  const code = codeOf(error)
  if (Object.hasOwn(TIMEOUTS, code)) return new ClientError('Timeout', `${call}: ${TIMEOUTS[code] ?? code}`, { cause: error })
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new ClientError('TooLarge', `${call}: the headers of the answer are too large`, { cause: error })
  // The library asserts what its parser lets pass, such as a status below 100.
  if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code === 'ERR_ASSERTION') return new ClientError('BadAnswer', `${call}: the answer is not valid HTTP`, { cause: error })
  return new ClientError('Unreachable', `${call}: ${reasonOf(error)}`, { cause: error })
}

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_SIGNATURE_FAILURE', 'INVALID_CA', 'INVALID_PURPOSE', 'ERR_TLS_CERT_ALTNAME_INVALID', 'NO_SUBJECT_ALT_NAME'
])

/** Whether a call failed as the certificate of the peer was not believed. */
export const isCertificateRefused = (error: unknown): boolean => isClientError(error, 'Unreachable') && CERTIFICATE_CODES.has(codeOf(error.cause))
