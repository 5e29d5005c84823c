/** One request on its way through the queues of a priority level. */
import type { Queue } from './queue.js'

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
