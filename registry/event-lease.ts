/** One lease for all objects written within a period: a lease per object would cost the store as much as the object. */
import type { Backend, LeaseId } from '../storage/backend.js'
import { type Clock, systemClock } from '../event-loop/clock.js'

/** `--lease-reuse-duration-seconds` */
const LEASE_REUSE_SECONDS = 60
/** The reuse period extends the lease by at most this fraction of its time to live. */
const MAX_EXTENSION = 1 / 20

export interface EventLeaseOptions {
  readonly backend: Backend
  readonly ttlSeconds: number
  readonly reuseSeconds?: number | undefined
  /** Default the system's. */
  readonly clock?: Clock
  /** Receives the number of objects of a lease that is no longer reused. */
  readonly onReplaced?: ((objects: number) => void) | undefined
}

export class EventLease {
  readonly #backend: Backend
  readonly #ttlSeconds: number
  readonly #reuseSeconds: number
  readonly #clock: Clock
  #lease: Promise<LeaseId> | undefined
  #until = 0
  readonly #onReplaced: ((objects: number) => void) | undefined
  /** Number of objects with the current lease. */
  #objects = 0

  constructor (
    { backend, ttlSeconds, reuseSeconds = LEASE_REUSE_SECONDS, clock = systemClock, onReplaced }: EventLeaseOptions
  ) {
    this.#onReplaced = onReplaced
    this.#backend = backend
    this.#ttlSeconds = ttlSeconds
    this.#reuseSeconds = Math.min(reuseSeconds, ttlSeconds * MAX_EXTENSION)
    this.#clock = clock
  }

  /**
   * A lease that ends after the time to live, at most the reuse period later.
   * @throws StorageError as `Backend.lease`
   */
  current (): Promise<LeaseId> {
    const now = this.#clock.elapsed()
    if (this.#lease === undefined || now >= this.#until) {
      if (this.#objects > 0) this.#onReplaced?.(this.#objects)
      this.#objects = 0
      this.#until = now + this.#reuseSeconds * 1000
      const lease = this.#lease = this.#backend.lease(this.#ttlSeconds + this.#reuseSeconds)
      lease.catch(() => { if (this.#lease === lease) this.#lease = undefined }) // retry on the next write
    }
    this.#objects++
    return this.#lease
  }
}
