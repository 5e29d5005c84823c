/**
 * The deadlines of leases and their keys, in memory; the engine stores leases and deletes keys. After a restart a lease
 * keeps its remaining time, at most its whole time.
 */
import { type Clock, MAX_TIMER_MS } from '../../event-loop/clock.js'
import type { StoredLease } from './medium.js'

interface Lease {
  readonly id: number
  readonly ttlSeconds: number
  /** On the clock's `elapsed` scale. */
  readonly deadline: number
  /** Keys that were put with it; for a moment some may have another lease or none since. */
  readonly keys: Set<string>
}

export class Leases {
  readonly #clock: Clock
  readonly #onExpired: (id: number, keys: ReadonlySet<string>) => void
  readonly #leases = new Map<number, Lease>()
  #lastId = 0
  #timer: (() => void) | undefined
  #timerAt = Infinity

  /** @param onExpired called once for each lease that ends, after it was removed here */
  constructor (clock: Clock, onExpired: (id: number, keys: ReadonlySet<string>) => void) {
    this.#clock = clock
    this.#onExpired = onExpired
  }

  /** Creates a lease of that many seconds; the caller stores it. */
  grant (ttlSeconds: number): StoredLease {
    // Ids rise with the wall clock, so that a restart does not reuse the id of an ended lease.
    const id = this.#lastId = Math.max(this.#lastId + 1, this.#clock.wall())
    const lease = { id, ttlSeconds, expires: this.#clock.wall() + ttlSeconds * 1000 }
    this.#add(lease.id, ttlSeconds, ttlSeconds * 1000)
    return lease
  }

  /** Restores a lease that an earlier process stored. */
  restore (stored: StoredLease): void {
    this.#lastId = Math.max(this.#lastId, stored.id)
    const remaining = Math.min(Math.max(0, stored.expires - this.#clock.wall()), stored.ttlSeconds * 1000)
    this.#add(stored.id, stored.ttlSeconds, remaining)
  }

  all (): StoredLease[] {
    return [...this.#leases.values()].map(({ id, ttlSeconds, deadline }) =>
      ({ id, ttlSeconds, expires: this.#clock.wall() + deadline - this.#clock.elapsed() }))
  }

  has (id: number): boolean {
    return this.#leases.has(id)
  }

  attach (id: number, key: string): void {
    this.#leases.get(id)?.keys.add(key)
  }

  /** A key that is deleted, or has another lease, is held no longer. */
  detach (id: number, key: string): void {
    this.#leases.get(id)?.keys.delete(key)
  }

  /** Removes a lease that could not be stored. */
  forget (id: number): void {
    this.#leases.delete(id)
  }

  /** Expires a lease again later, after a failure. */
  retry (id: number, keys: ReadonlySet<string>, milliseconds: number): void {
    const lease = this.#add(id, 0, milliseconds)
    for (const key of keys) lease.keys.add(key)
  }

  close (): void {
    this.#timer?.()
    this.#timer = undefined
    this.#leases.clear()
  }

  #add (id: number, ttlSeconds: number, milliseconds: number): Lease {
    const lease = { id, ttlSeconds, deadline: this.#clock.elapsed() + milliseconds, keys: new Set<string>() }
    this.#leases.set(id, lease)
    this.#arm(lease.deadline)
    return lease
  }

  #arm (deadline: number): void {
    if (deadline >= this.#timerAt) return
    this.#timer?.()
    this.#timerAt = deadline
    const wait = Math.min(Math.max(0, deadline - this.#clock.elapsed()), MAX_TIMER_MS)
    this.#timer = this.#clock.after(Math.ceil(wait), () => this.#onTimer())
  }

  #onTimer (): void {
    this.#timer = undefined
    this.#timerAt = Infinity
    const now = this.#clock.elapsed()
    const ended: Lease[] = []
    let next = Infinity
    for (const lease of this.#leases.values()) {
      if (lease.deadline <= now) ended.push(lease)
      else if (lease.deadline < next) next = lease.deadline
    }
    for (const lease of ended) this.#leases.delete(lease.id)
    if (next !== Infinity) this.#arm(next)
    for (const lease of ended) this.#onExpired(lease.id, lease.keys)
  }
}
