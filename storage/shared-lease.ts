/** One lease for all that is written within a while: a lease of its own for each object would cost the store as much as the object. */
import type { Backend, LeaseId } from './backend.js'
import { type Clock, systemClock } from './clock.js'

/** `--lease-reuse-duration-seconds` */
const LEASE_REUSE_SECONDS = 60
/** A lease lasts longer than its objects have to stay by the time it is used for new ones, which is no more than this part of it. */
const MOST_LONGER = 1 / 20

export class SharedLease {
  readonly #backend: Backend
  readonly #ttlSeconds: number
  readonly #reuseSeconds: number
  readonly #clock: Clock
  #lease: Promise<LeaseId> | undefined
  #until = 0
  readonly #full: ((objects: number) => void) | undefined
  /** Asked for with the present lease. */
  #objects = 0

  /** @param full told of how many objects a lease was given to when it gets no more */
  constructor (backend: Backend, ttlSeconds: number, reuseSeconds = LEASE_REUSE_SECONDS, clock = systemClock, full?: (objects: number) => void) {
    this.#full = full
    this.#backend = backend
    this.#ttlSeconds = ttlSeconds
    this.#reuseSeconds = Math.min(reuseSeconds, ttlSeconds * MOST_LONGER)
    this.#clock = clock
  }

  /** A lease that ends after the time to live, later by no more than it is used again. @throws StorageError as `Backend.lease` */
  current (): Promise<LeaseId> {
    const now = this.#clock.elapsed()
    if (this.#lease === undefined || now >= this.#until) {
      if (this.#objects > 0) this.#full?.(this.#objects)
      this.#objects = 0
      this.#until = now + this.#reuseSeconds * 1000
      const lease = this.#lease = this.#backend.lease(this.#ttlSeconds + this.#reuseSeconds)
      lease.catch(() => { if (this.#lease === lease) this.#lease = undefined }) // the next write asks again
    }
    this.#objects++
    return this.#lease
  }
}
