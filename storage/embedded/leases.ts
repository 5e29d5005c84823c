/**
 * Leases: which keys end when. In memory here; the engine stores each lease and removes the keys.
 * A restart gives a lease what was left of it, never more than its whole time.
 */
import { type Clock, LONGEST_TIMER } from '../clock.js'
import type { StoredLease } from './medium.js'

interface Lease {
  readonly id: number
  /** On the clock's `elapsed` scale. */
  readonly deadline: number
  /** Keys that were put with it; some may have moved on to another lease or none. */
  readonly keys: Set<string>
}

export class Leases {
  readonly #clock: Clock
  readonly #expired: (id: number, keys: ReadonlySet<string>) => void
  readonly #leases = new Map<number, Lease>()
  #lastId = 0
  #timer: (() => void) | undefined
  #timerAt = Infinity

  /** @param expired called once for each lease that ends, which is forgotten here by then */
  constructor (clock: Clock, expired: (id: number, keys: ReadonlySet<string>) => void) {
    this.#clock = clock
    this.#expired = expired
  }

  /** A new lease of that many seconds, to be stored by the caller. */
  grant (ttlSeconds: number): StoredLease {
    // Ids rise with the wall clock, so that one that ended before a restart does not come back for another.
    const id = this.#lastId = Math.max(this.#lastId + 1, this.#clock.wall())
    const lease = { id, ttlSeconds, expires: this.#clock.wall() + ttlSeconds * 1000 }
    this.#add(lease.id, ttlSeconds * 1000)
    return lease
  }

  /** Takes up a lease that an earlier process stored. */
  restore (stored: StoredLease): void {
    this.#lastId = Math.max(this.#lastId, stored.id)
    const left = Math.min(Math.max(0, stored.expires - this.#clock.wall()), stored.ttlSeconds * 1000)
    this.#add(stored.id, left)
  }

  has (id: number): boolean {
    return this.#leases.has(id)
  }

  attach (id: number, key: string): void {
    this.#leases.get(id)?.keys.add(key)
  }

  /** Takes a lease back that could not be stored. */
  forget (id: number): void {
    this.#leases.delete(id)
  }

  /** Tries again later what could not be done when the lease ended. */
  retry (id: number, keys: ReadonlySet<string>, milliseconds: number): void {
    const lease = this.#add(id, milliseconds)
    for (const key of keys) lease.keys.add(key)
  }

  close (): void {
    this.#timer?.()
    this.#timer = undefined
    this.#leases.clear()
  }

  #add (id: number, milliseconds: number): Lease {
    const lease = { id, deadline: this.#clock.elapsed() + milliseconds, keys: new Set<string>() }
    this.#leases.set(id, lease)
    this.#arm(lease.deadline)
    return lease
  }

  #arm (deadline: number): void {
    if (deadline >= this.#timerAt) return
    this.#timer?.()
    this.#timerAt = deadline
    const wait = Math.min(Math.max(0, deadline - this.#clock.elapsed()), LONGEST_TIMER)
    this.#timer = this.#clock.after(Math.ceil(wait), () => this.#ring())
  }

  #ring (): void {
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
    for (const lease of ended) this.#expired(lease.id, lease.keys)
  }
}
