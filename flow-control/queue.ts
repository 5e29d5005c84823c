/** A request in the queues of a priority level, and a queue with its progress in virtual time. */

/** The expected cost of a request. */
export interface Work {
  /** Seats while it runs, at least 1. */
  readonly seats: number
  /** Seats for work that follows the response; usually 0. */
  readonly finalSeats: number
  /** Milliseconds of that work. */
  readonly finalMs: number
}

export const ONE_SEAT: Work = Object.freeze({ seats: 1, finalSeats: 0, finalMs: 0 })

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** Assumed run time in seconds, until the actual one is known. */
export const EXPECTED_SECONDS = 0.003

export abstract class Ticket {
  /** Set by the queue set only. */
  state: 'new' | 'waiting' | 'executing' | 'finishing' | 'over' = 'new'
  /** Undefined for levels without queues. */
  queue: Queue | undefined = undefined
  /** Virtual time of its arrival. */
  arrivalR = 0
  /** Milliseconds of the clock. */
  arrivedAt = 0
  startedAt = 0

  /** Maximum seats at a time. */
  readonly seats: number
  /** Expected cost in seat seconds. */
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

  /** Called once when a waiting request may run. */
  abstract dispatched (): void
  /** Called at most once when a waiting request times out. */
  abstract refused (reason: Refusal): void
  /** Called when its seats are free, after any final work. */
  abstract released (): void
}

export class Queue {
  readonly index: number
  /** In order of arrival. */
  readonly waiting = new Set<Ticket>()
  /** Virtual start of its next request, in seat seconds. */
  nextR = 0
  executing = 0
  seatsInUse = 0
  /** Seats and work of waiting requests. */
  seatsWaiting = 0
  workWaiting = 0

  constructor (index: number) { this.index = index }

  get idle (): boolean { return this.executing === 0 && this.waiting.size === 0 }

  get oldest (): Ticket | undefined { return this.waiting.size === 0 ? undefined : this.waiting.values().next().value }

  /** Seat seconds of work before a new request. */
  get load (): number { return this.workWaiting + this.seatsInUse * EXPECTED_SECONDS }

  add (ticket: Ticket): void {
    this.waiting.add(ticket)
    this.seatsWaiting += ticket.seats
    this.workWaiting += ticket.expectedWork
  }

  delete (ticket: Ticket): void {
    if (!this.waiting.delete(ticket)) return
    this.seatsWaiting -= ticket.seats
    // Reset to avoid accumulated rounding errors.
    this.workWaiting = this.waiting.size === 0 ? 0 : this.workWaiting - ticket.expectedWork
    this.bound()
  }

  /** Keeps the virtual start from preceding the oldest arrival, so that an idle queue gains no credit. */
  bound (): void {
    const { oldest } = this
    if (oldest !== undefined && oldest.arrivalR > this.nextR) this.nextR = oldest.arrivalR
  }
}
