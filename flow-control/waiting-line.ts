/** All who wait at a priority level, in order of arrival, and the end of their patience: one timer for all. */
import type { Clock } from '../storage/clock.js'
import type { Ticket } from './queue.js'

export class WaitingLine {
  readonly #clock: Clock
  readonly #tickets = new Set<Ticket>()
  readonly #expired: (tickets: readonly Ticket[]) => void
  #limit: number
  #cancel: (() => void) | undefined

  /** @param limit milliseconds that one may wait @param expired told of those that are still in it and have waited so long */
  constructor (clock: Clock, limit: number, expired: (tickets: readonly Ticket[]) => void) {
    this.#clock = clock
    this.#limit = limit
    this.#expired = expired
  }

  get size (): number { return this.#tickets.size }

  add (ticket: Ticket): void {
    this.#tickets.add(ticket)
    if (this.#tickets.size === 1) this.#schedule()
  }

  delete (ticket: Ticket): void {
    if (this.#tickets.delete(ticket) && this.#tickets.size === 0) this.close()
  }

  configure (limit: number): void {
    if (limit === this.#limit) return
    this.#limit = limit
    this.#schedule()
  }

  close (): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #schedule (): void {
    this.close()
    const first = this.#tickets.values().next().value
    if (first !== undefined) this.#cancel = this.#clock.after(Math.max(0, first.arrivedAt + this.#limit - this.#clock.elapsed()), () => { this.#look() })
  }

  #look (): void {
    const now = this.#clock.elapsed()
    const late: Ticket[] = []
    for (const ticket of this.#tickets) {
      if (ticket.arrivedAt + this.#limit > now) break
      late.push(ticket)
    }
    if (late.length > 0) this.#expired(late)
    this.#schedule()
  }
}
