import { StorageError } from '../errors.js'

/** Reasons that say nothing about the key of the call. */
const OUTAGES = ['Unavailable', 'DeadlineExceeded', 'Canceled', 'ResourceExhausted', 'Unimplemented', 'Unauthenticated']

/** A key service failed; calling it again may succeed. `status` is gRPC's name of the reason, as `Unavailable`. */
export class KeyServiceError extends StorageError {
  constructor (readonly status: string, message: string, cause?: unknown) {
    super('KeyService', message, { cause })
  }

  /** True if the service fails for every key. False if that is unknown. */
  get isOutage (): boolean { return OUTAGES.includes(this.status) }
}
