/** One of the queues of a priority level: who waits in it, and how far its flows have got in virtual time. */
import { EXPECTED_SECONDS, type Ticket } from './ticket.js'

export class Queue {
  readonly index: number
  /** In order of arrival. */
  readonly waiting = new Set<Ticket>()
  /** Virtual time at which its next request starts, in seat seconds. */
  nextR = 0
  executing = 0
  seatsInUse = 0
  /** Of those that wait. */
  seatsWaiting = 0
  workWaiting = 0

  constructor (index: number) { this.index = index }

  get idle (): boolean { return this.executing === 0 && this.waiting.size === 0 }

  get oldest (): Ticket | undefined { return this.waiting.size === 0 ? undefined : this.waiting.values().next().value }

  /** Seat seconds before a request that joined it now. */
  get load (): number { return this.workWaiting + this.seatsInUse * EXPECTED_SECONDS }

  add (ticket: Ticket): void {
    this.waiting.add(ticket)
    this.seatsWaiting += ticket.seats
    this.workWaiting += ticket.expectedWork
  }

  delete (ticket: Ticket): void {
    if (!this.waiting.delete(ticket)) return
    this.seatsWaiting -= ticket.seats
    // Sums of fractions leave crumbs.
    this.workWaiting = this.waiting.size === 0 ? 0 : this.workWaiting - ticket.expectedWork
    this.bound()
  }

  /** Nobody is served for a time before it came: a queue that was quiet gathers no right to more than its part. */
  bound (): void {
    const { oldest } = this
    if (oldest !== undefined && oldest.arrivalR > this.nextR) this.nextR = oldest.arrivalR
  }
}
