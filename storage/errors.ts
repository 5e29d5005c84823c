/**
 * Errors of storage: one class with a closed set of codes, without HTTP. `plugins/errors.ts` turns each code into a
 * Status; the cause is only logged.
 */

export type StorageErrorCode =
  /** The lease does not exist or has ended. */
  | 'NotFound'
  /** The revision is no longer kept. */
  | 'Compacted'
  /** The revision is newer than the store's. */
  | 'FutureRevision'
  /** The store did not respond in time; nothing was written. */
  | 'Unavailable'
  /** A write was sent and its outcome is unknown. */
  | 'UnknownOutcome'
  /** The value exceeds the store's limit, which the message states; nothing was written. */
  | 'TooLarge'
  /** The disk is nearly full, or etcd is; nothing was written, and values are refused until there is space. */
  | 'NoSpace'
  /** The stored value can't be decoded, or is not that of its key. */
  | 'Corrupt'
  /**
   * No configured provider reads the stored value, because its key is missing or wrong. With its key it can be read
   * again.
   */
  | 'Undecryptable'
  /** The key service of encryption at rest failed; nothing was written. */
  | 'KeyService'
  /** The store or the watch was closed. */
  | 'Closed'

/** As the members of the error. */
interface StorageErrorOptions { key?: string, since?: number | undefined, remedy?: string, cause?: unknown }

export class StorageError extends Error {
  readonly code: StorageErrorCode
  readonly key: string | undefined
  /** When the store began to fail, milliseconds since 1970. */
  readonly since: number | undefined
  /** What makes it work again, for clients; undefined if the code says it. */
  readonly remedy: string | undefined

  constructor (code: StorageErrorCode, message: string, options: StorageErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StorageError'
    this.code = code
    this.key = options.key
    this.since = options.since
    this.remedy = options.remedy
  }
}

/** Another server has the store. */
export class InUseError extends StorageError {
  /** Without what to do about it: `the directory DIRECTORY is in use by another server (process 17)`. */
  readonly problem: string

  constructor (problem: string) {
    super('Unavailable', `${problem}: stop that one or name another directory`)
    this.problem = problem
  }
}

export function isStorageError (error: unknown, code?: StorageErrorCode): error is StorageError {
  return error instanceof StorageError && (code === undefined || error.code === code)
}

/** The failure of a single stored value, which leaves all others readable. */
export const isUnreadable = (error: unknown): error is StorageError =>
  isStorageError(error, 'Corrupt') || isStorageError(error, 'Undecryptable')

/** Clients match this message. */
export const futureRevision = (requested: number, newest: number): StorageError =>
  new StorageError('FutureRevision', `Too large resource version: ${requested}, current: ${newest}`)

/** The messages of an error and its causes on one line, for logs of expected failures, which need no stack. */
export function reasonOf (error: unknown): string {
  const messages: string[] = []
  for (let at = error; at !== undefined && messages.length < 5; at = at instanceof Error ? at.cause : undefined) {
    const reason = at instanceof Error ? at.message : String(at)
    if (messages.at(-1)?.includes(reason) !== true) messages.push(reason)
  }
  return messages.join(': ')
}

/** Log fields of a failure: the reason of a StorageError, the whole error with its stack otherwise. */
export const failureFields = (error: unknown): { reason: string } | { err: unknown } =>
  isStorageError(error) ? { reason: reasonOf(error) } : { err: error }
