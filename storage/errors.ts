/**
 * What storage can fail with: one class, a closed set of codes, no HTTP. `routes/` never sees the cause;
 * `plugins/errors.ts` turns each code into a Status.
 */

export type StorageErrorCode =
  /** The lease does not exist or has ended. */
  | 'NotFound'
  /** The revision is no longer kept. */
  | 'Compacted'
  /** The revision is newer than the store's. */
  | 'FutureRevision'
  /** The store did not answer in time or not at all; nothing was written. */
  | 'Unavailable'
  /** A write was sent and its outcome could not be learnt. */
  | 'UnknownOutcome'
  /** The value is larger than the store takes, the message says by how much; nothing was written. */
  | 'TooLarge'
  /** The disk is nearly full; nothing was written, and values are refused until there is room. */
  | 'NoSpace'
  /** The value in the store can't be decoded. */
  | 'Corrupt'
  /** The store or the watch was closed. */
  | 'Closed'

export class StorageError extends Error {
  readonly code: StorageErrorCode
  readonly key: string | undefined

  constructor (code: StorageErrorCode, message: string, options: { key?: string, cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StorageError'
    this.code = code
    this.key = options.key
  }
}

export function isStorageError (error: unknown, code?: StorageErrorCode): error is StorageError {
  return error instanceof StorageError && (code === undefined || error.code === code)
}

/** In the words clients look for. */
export const futureRevision = (wanted: number, newest: number): StorageError => new StorageError('FutureRevision', `Too large resource version: ${wanted}, current: ${newest}`)

/** The message of an error and those of its causes, on one line, for the log: what was expected to fail needs no stack. */
export function reasonOf (error: unknown): string {
  const reasons: string[] = []
  for (let at = error; at !== undefined && reasons.length < 5; at = at instanceof Error ? at.cause : undefined) {
    const reason = at instanceof Error ? at.message : String(at)
    if (reasons.at(-1)?.includes(reason) !== true) reasons.push(reason)
  }
  return reasons.join(': ')
}

/** A failure for the log: of the store its reason alone, which says all there is; of anything else the stack too. */
export const failureFields = (error: unknown): { reason: string } | { err: unknown } => isStorageError(error) ? { reason: reasonOf(error) } : { err: error }
