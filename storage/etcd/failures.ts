/** Translates failures of etcd and its connections. */
import { StorageError } from '../errors.js'

/** The gRPC status codes used here. */
const Status = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16
} as const

/** Codes with which etcd itself reports that it did nothing. */
const REFUSALS: ReadonlySet<number> = new Set([
  Status.invalidArgument, Status.notFound, Status.permissionDenied, Status.resourceExhausted,
  Status.failedPrecondition, Status.outOfRange, Status.unimplemented, Status.unauthenticated
])

/**
 * How the message of @grpc/grpc-js (checked with 1.14.7) begins when a call had no connection: it has a code for that,
 * `unavailable`, which it has for lost connections too. `test/storage/etcd/failures.test.ts` notices other words.
 */
const NOT_SENT = /^(No connection established|Name resolution failed|Channel has been shut down)/

/** Text that grpc-js adds to the message. */
const BOILERPLATE = /^No connection established\. Last error: (Error: )?|\.? Resolution note: $/g

export class CallError extends Error {
  readonly code: number
  readonly details: string
  /** False if the call cannot have had an effect. */
  readonly sent: boolean
  /** True if a retry may succeed, here or on another server. */
  readonly transient: boolean

  constructor (cause: Error, server: string, sent = true) {
    const code = 'code' in cause && typeof cause.code === 'number' ? cause.code : Status.unknown
    const details = 'details' in cause && typeof cause.details === 'string' ? cause.details : cause.message
    super(`${server}: ${details.replace(BOILERPLATE, '')}`, { cause })
    this.name = 'CallError'
    this.code = code
    this.details = details
    this.sent = sent && !REFUSALS.has(code) && !NOT_SENT.test(details)
    this.transient = !REFUSALS.has(code)
  }
}

/** What to do when etcd refuses values; deletes go on. */
const NO_SPACE = 'compact and defragment it (orch-apiserver compact) or raise its --quota-backend-bytes, ' +
  'then disarm its alarm (etcdctl alarm disarm)'

export interface Outage {
  /** When calls began to fail, milliseconds since 1970. */
  readonly since: number | undefined
  /** What is known about it, in place of the call's own error. */
  readonly why: string | undefined
}

/**
 * etcd has one gRPC code for several failures, of which only its text (checked with 3.4.23) tells which. Other
 * words are noticed by `test/contracts/backend.ts` (revisions), `test/storage/etcd.test.ts` (large values) and
 * `test/storage/etcd-troubles.test.ts` (no space).
 * @param outage of a call that was not answered
 */
export function failureOf (error: CallError, { since, why }: Partial<Outage> = {}): StorageError {
  const { code, details, message } = error
  if (details.includes('required revision has been compacted')) {
    return new StorageError('Compacted', 'the revision is no longer kept by etcd', { cause: error })
  }
  if (details.includes('required revision is a future revision')) {
    return new StorageError(
      'FutureRevision', 'Too large resource version: it is newer than the newest of etcd', { cause: error }
    )
  }
  if (code === Status.notFound) { // nothing else that is called here can be missing
    return new StorageError('NotFound', 'the lease does not exist or has ended', { cause: error })
  }
  if (/request is too large|larger than max/.test(details)) {
    return new StorageError(
      'TooLarge', 'the object is larger than etcd takes in one request; raise its --max-request-bytes', { cause: error }
    )
  }
  if (details.includes('database space exceeded')) {
    const remedy = `the operator of etcd has to ${NO_SPACE}`
    const message = `etcd has no space left and refuses values (alarm NOSPACE): ${NO_SPACE}`
    return new StorageError('NoSpace', message, { remedy, cause: error })
  }
  return new StorageError('Unavailable', why ?? `a call to etcd failed: ${message}`, { since, cause: error })
}

/** Whether etcd denied permission to an authenticated user. */
export function isDenied (error: unknown): boolean {
  return error instanceof StorageError && error.cause instanceof CallError &&
    error.cause.code === Status.permissionDenied
}

export const beforeRestore = (revision: number): StorageError =>
  new StorageError('Compacted', `revision ${revision} is from before the store was restored`)

export function closedError (): StorageError {
  return new StorageError('Closed', 'the etcd store is closed')
}
