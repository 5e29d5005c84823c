/** One request on its way through the queues of a priority level, and the queue it waits in: how far its flows have got in virtual time. */

/** What a request is expected to cost. */
export interface Work {
  /** Seats while it runs, at least 1. */
  readonly seats: number
  /** Seats for what follows from it. 0 for most. */
  readonly finalSeats: number
  /** Milliseconds that what follows takes. */
  readonly finalMs: number
}

export const ONE_SEAT: Work = Object.freeze({ seats: 1, finalSeats: 0, finalMs: 0 })

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** Seconds a request is taken to run until it is known better. */
export const EXPECTED_SECONDS = 0.003

export abstract class Ticket {
  /** Of the queue set: others only read. */
  state: 'new' | 'waiting' | 'executing' | 'finishing' | 'over' = 'new'
  /** Undefined where the level has no queues. */
  queue: Queue | undefined = undefined
  /** Virtual time of its arrival. */
  arrivalR = 0
  /** Milliseconds of the clock. */
  arrivedAt = 0
  startedAt = 0

  /** What it may have at most at a time. */
  readonly seats: number
  /** Seat seconds it is taken to cost before it has run. */
  readonly expectedWork: number

  constructor (
    readonly schema: string,
    readonly distinguisher: string,
    readonly work: Work
  ) {
    const { seats, finalSeats, finalMs } = work
    this.seats = Math.max(seats, finalSeats)
    this.expectedWork = seats * EXPECTED_SECONDS + finalSeats * finalMs / 1000
  }

  /** It is to run now; called once, and only for one that had to wait. */
  abstract dispatched (): void
  /** It has waited too long; called at most once, and only for one that had to wait. */
  abstract refused (reason: Refusal): void
  /** Its seats are free, what followed from it included. */
  abstract released (): void
}

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
