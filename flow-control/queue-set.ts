/**
 * The requests of one priority level: its seats, and queues for requests that find none. The next request is chosen by
 * virtual time, as in fair queuing of packets: virtual time advances by the share each busy queue could have received,
 * and the queue whose next request would finish first is served first. A light flow therefore waits for about one
 * request of each other queue, regardless of their lengths. The actual cost of a request is charged to its queue when
 * it ends.
 *
 * All requests share one thread, so seats alone cannot prevent one flow from using all of it. Waiting requests get
 * seats one by one, a few per event loop turn; once a turn has taken its budget, new requests wait as well and join the
 * next choice.
 *
 * All calls are synchronous; times are the clock's.
 */
import type { Clock } from '../event-loop/clock.js'
import { startInNextTurn } from '../event-loop/batching.js'
import { turnIsOver } from '../event-loop/turns.js'
import { Queues } from './queues.js'
import { EXPECTED_SECONDS, type Queue, type Refusal, type Ticket } from './queue.js'
import { WaitingLine } from './waiting-line.js'

export interface QueueSettings {
  /** Number of seats. */
  readonly limit: number
  /** 0: requests without a seat are refused. */
  readonly queues: number
  readonly handSize: number
  /** Maximum number of waiting requests per queue. */
  readonly lengthLimit: number
  /** Maximum wait in milliseconds. */
  readonly waitLimit: number
}

export interface QueueObserver {
  /** A request was dispatched: current virtual time and its virtual start, in seat seconds. */
  readonly dispatched?: (currentR: number, startR: number) => void
  /** The next request did not get enough seats. */
  readonly notAccommodated?: (ticket: Ticket) => void
  /** Waiting or executing requests, or the seats, have changed. */
  readonly changed?: (set: QueueSet) => void
  /** No request waits or executes. */
  readonly idle?: () => void
}

/** The event loop, replaceable in tests. */
export interface Turns {
  /** Whether this turn's budget is used up. */
  readonly isOver: () => boolean
  /** Calls back in a later turn. */
  readonly next: (run: () => void) => void
}

const TURNS: Turns = { isOver: turnIsOver, next: startInNextTurn }

export class QueueSet {
  readonly #clock: Clock
  readonly #observer: QueueObserver
  readonly #turns: Turns
  readonly #queues: Queues
  readonly #waitingLine: WaitingLine
  #settings: QueueSettings
  /** Virtual time: seconds of a seat that each busy queue has been due. */
  #currentR = 0
  #syncedAt: number
  #executing = 0
  #seatsInUse = 0
  #seatsWaiting = 0
  /** A dispatch is scheduled. */
  #dispatching = false

  constructor (clock: Clock, settings: QueueSettings, observer: QueueObserver = {}, turns = TURNS) {
    this.#clock = clock
    this.#settings = settings
    this.#observer = observer
    this.#turns = turns
    this.#queues = new Queues(settings.queues, settings.handSize)
    this.#waitingLine = new WaitingLine(clock, settings.waitLimit, expired => { this.#refuse(expired) })
    this.#syncedAt = clock.elapsed()
  }

  get executing (): number { return this.#executing }
  get waiting (): number { return this.#waitingLine.size }
  get seatsInUse (): number { return this.#seatsInUse }
  /** Seats of the requests that run or wait. */
  get seatsAsked (): number { return this.#seatsInUse + this.#seatsWaiting }
  get idle (): boolean { return this.#executing === 0 && this.#waitingLine.size === 0 }
  /** The clock at the last call, in milliseconds. */
  get now (): number { return this.#syncedAt }
  get settings (): QueueSettings { return this.#settings }

  /** By number; missing ones are idle. */
  queues (): Queue[] { return this.#queues.all() }

  /**
   * Smallest and largest virtual start time among the next requests of all queues. The discounted ones subtract the
   * expected cost of requests that the same queue executes. Undefined if nothing waits.
   */
  get nextStarts (): {
    readonly min: number, readonly max: number, readonly minDiscounted: number, readonly maxDiscounted: number
  } | undefined {
    if (!this.#queues.anyPending) return undefined
    const pending = this.#queues.all().filter(({ waiting }) => waiting.size > 0)
    const starts = pending.map(({ nextR }) => nextR)
    const discounted = pending.map(({ nextR, seatsInUse }) => nextR - seatsInUse * EXPECTED_SECONDS)
    return {
      min: Math.min(...starts), max: Math.max(...starts), minDiscounted: Math.min(...discounted),
      maxDiscounted: Math.max(...discounted)
    }
  }

  configure (settings: QueueSettings): void {
    this.#sync()
    this.#settings = settings
    this.#queues.configure(settings.queues, settings.handSize)
    this.#waitingLine.configure(settings.waitLimit)
    this.#dispatch()
    this.#observer.changed?.(this)
  }

  /** @returns 'executing' if it may run now; if 'waiting', the ticket is notified later */
  enter (ticket: Ticket): 'executing' | 'waiting' | Refusal {
    this.#sync(this.#clock.elapsed())
    const outcome = this.#enter(ticket)
    this.#observer.changed?.(this)
    return outcome
  }

  #enter (ticket: Ticket): 'executing' | 'waiting' | Refusal {
    const { queues, lengthLimit } = this.#settings
    ticket.arrivalR = this.#currentR
    ticket.arrivedAt = this.#syncedAt
    if (queues === 0) {
      if (!this.#fits(ticket)) return 'concurrency-limit'
      this.#begin(ticket)
      return 'executing'
    }
    const queue = this.#queues.choose(ticket)
    if (queue.waiting.size >= lengthLimit) return 'queue-full'
    // A queue that was idle gets no credit for that time.
    if (queue.idle || (queue.waiting.size === 0 && queue.nextR < this.#currentR)) queue.nextR = this.#currentR
    ticket.queue = queue
    if (this.#waitingLine.size === 0 && this.#fits(ticket) && !this.#turns.isOver()) {
      this.#begin(ticket)
      return 'executing'
    }
    ticket.state = 'waiting'
    this.#queues.enqueue(ticket, queue)
    this.#waitingLine.add(ticket)
    this.#seatsWaiting += ticket.seats
    this.#dispatch()
    return 'waiting'
  }

  /** The request has ended or was cancelled. Idempotent. */
  leave (ticket: Ticket): void {
    if (ticket.state === 'executing') {
      this.#sync()
      this.#settle(ticket)
    } else if (ticket.state === 'waiting') {
      this.#sync()
      this.#forget(ticket)
    } else return
    this.#dispatchNext()
  }

  /** Stops notifications. */
  close (): void { this.#waitingLine.close() }

  /** Advances virtual time by each busy queue's fair share of the seats in use. */
  #sync (now = this.#clock.elapsed()): void {
    const passed = now - this.#syncedAt
    if (passed <= 0) return
    this.#syncedAt = now
    const { busy } = this.#queues
    if (busy > 0) this.#currentR += passed / 1000 * Math.min(this.#seatsInUse, this.#settings.limit) / busy
  }

  /** A request wider than the level runs alone. */
  #fits ({ seats }: Ticket): boolean {
    return this.#seatsInUse + seats <= this.#settings.limit || this.#seatsInUse === 0
  }

  #begin (ticket: Ticket): void {
    const { queue, seats } = ticket
    if (queue !== undefined) {
      this.#observer.dispatched?.(this.#currentR, queue.nextR)
      this.#queues.startExecuting(ticket, queue)
    }
    if (ticket.state === 'waiting') this.#endWait(ticket)
    ticket.state = 'executing'
    ticket.startedAt = this.#syncedAt
    this.#executing++
    this.#take(ticket, seats)
  }

  #take ({ queue }: Ticket, seats: number): void {
    this.#seatsInUse += seats
    if (queue !== undefined) queue.seatsInUse += seats
  }

  /** Charges the actual instead of the expected cost, and frees the seats after the final work. */
  #settle (ticket: Ticket): void {
    const { queue, work: { seats, finalSeats, finalMs } } = ticket
    if (queue !== undefined) {
      queue.nextR += (seats * (this.#syncedAt - ticket.startedAt) + finalSeats * finalMs) / 1000 - ticket.expectedWork
      queue.bound()
    }
    if (finalSeats === 0 || finalMs <= 0) return this.#end(ticket, ticket.seats)
    ticket.state = 'finishing'
    this.#take(ticket, finalSeats - ticket.seats)
    this.#clock.after(finalMs, () => {
      this.#sync()
      this.#end(ticket, finalSeats)
      this.#dispatchNext()
    })
  }

  #end (ticket: Ticket, seats: number): void {
    ticket.state = 'over'
    this.#executing--
    this.#take(ticket, -seats)
    if (ticket.queue !== undefined) this.#queues.end(ticket.queue)
    ticket.released()
  }

  /** It waits no longer. */
  #endWait (ticket: Ticket): void {
    this.#waitingLine.delete(ticket)
    this.#seatsWaiting -= ticket.seats
  }

  #forget (ticket: Ticket): void {
    ticket.state = 'over'
    this.#endWait(ticket)
    if (ticket.queue !== undefined) this.#queues.dequeue(ticket, ticket.queue)
  }

  #refuse (expired: readonly Ticket[]): void {
    this.#sync()
    for (const ticket of expired) this.#forget(ticket)
    for (const ticket of expired) ticket.refused('time-out')
    this.#dispatchNext()
  }

  #dispatchNext (): void {
    this.#dispatch()
    this.#observer.changed?.(this)
    if (this.idle) this.#observer.idle?.()
  }

  /** Gives a seat to the next request in a later turn, and then to the following one. */
  #dispatch (): void {
    if (this.#dispatching || this.#next() === undefined) return
    this.#dispatching = true
    this.#turns.next(() => {
      this.#dispatching = false
      this.#sync()
      const ticket = this.#next()
      if (ticket === undefined) return
      this.#begin(ticket)
      ticket.dispatched()
      this.#dispatch()
      this.#observer.changed?.(this)
    })
  }

  /** The next request, if its seats are free. */
  #next (): Ticket | undefined {
    const ticket = this.#queues.next()
    if (ticket === undefined || this.#fits(ticket)) return ticket
    this.#observer.notAccommodated?.(ticket)
    return undefined
  }
}
