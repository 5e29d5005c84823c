/** All waiting requests of a priority level in order of arrival, with one timer for their time limits. */
import type { Clock } from '../event-loop/clock.js'
import type { Ticket } from './queue.js'

export class WaitingLine {
  readonly #clock: Clock
  readonly #tickets = new Set<Ticket>()
  readonly #onExpired: (tickets: readonly Ticket[]) => void
  #limit: number
  #cancel: (() => void) | undefined

  /** @param limit maximum wait in milliseconds @param onExpired receives requests that have waited that long */
  constructor (clock: Clock, limit: number, onExpired: (tickets: readonly Ticket[]) => void) {
    this.#clock = clock
    this.#limit = limit
    this.#onExpired = onExpired
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
    if (first !== undefined) {
      this.#cancel = this.#clock
        .after(Math.max(0, first.arrivedAt + this.#limit - this.#clock.elapsed()), () => { this.#expire() })
    }
  }

  #expire (): void {
    const now = this.#clock.elapsed()
    const expiredTickets: Ticket[] = []
    for (const ticket of this.#tickets) {
      if (ticket.arrivedAt + this.#limit > now) break
      expiredTickets.push(ticket)
    }
    if (expiredTickets.length > 0) this.#onExpired(expiredTickets)
    this.#schedule()
  }
}
