/**
 * The requests of one priority level: so many seats, and queues for those that find none. Whose turn it is goes by virtual
 * time, as in fair queuing of packets: it advances by what each busy queue could have been given, and the queue whose next
 * request would be finished first in it is served first. So a flow that asks for little waits for about one request of each
 * other queue, however many others wait there. What a request really cost is known when it is over, and is charged to its queue then.
 *
 * All requests share one thread, so seats alone do not keep one flow from having all of it: those who wait are given seats one by one,
 * a few in a turn of the event loop, and when a turn has lasted long enough, newcomers wait too. Whoever comes meanwhile is chosen
 * among the next.
 *
 * All calls are synchronous, times are the clock's.
 */
import type { Clock } from '../storage/clock.js'
import { begin, turnIsOver } from '../storage/turns.js'
import { Queues } from './queues.js'
import { EXPECTED_SECONDS, type Queue, type Refusal, type Ticket } from './queue.js'
import { WaitingLine } from './waiting-line.js'

export interface QueueSettings {
  /** Seats. */
  readonly limit: number
  /** 0: who finds no seat is refused. */
  readonly queues: number
  readonly handSize: number
  /** Of those that may wait in one queue. */
  readonly lengthLimit: number
  /** Milliseconds that one may wait. */
  readonly waitLimit: number
}

export interface QueueObserver {
  /** Virtual time, now and at the start of what was dispatched, seat seconds. */
  readonly dispatched?: (currentR: number, startR: number) => void
  /** It was its turn and there were not enough seats. */
  readonly notAccommodated?: (ticket: Ticket) => void
  /** What waits or runs has changed, or how many seats there are. */
  readonly changed?: (set: QueueSet) => void
  /** Nothing waits or runs any more. */
  readonly idle?: () => void
}

/** The event loop, so that a test can hold it. */
export interface Turns {
  /** Enough was begun in this one. */
  readonly isOver: () => boolean
  /** Calls back when others have been heard. */
  readonly next: (run: () => void) => void
}

const TURNS: Turns = { isOver: turnIsOver, next: begin }

export class QueueSet {
  readonly #clock: Clock
  readonly #observer: QueueObserver
  readonly #turns: Turns
  readonly #queues: Queues
  readonly #line: WaitingLine
  #settings: QueueSettings
  #currentR = 0
  #syncedAt: number
  #executing = 0
  #seatsInUse = 0
  /** Somebody is about to be given a seat. */
  #dispatching = false

  constructor (clock: Clock, settings: QueueSettings, observer: QueueObserver = {}, turns = TURNS) {
    this.#clock = clock
    this.#settings = settings
    this.#observer = observer
    this.#turns = turns
    this.#queues = new Queues(settings.queues, settings.handSize)
    this.#line = new WaitingLine(clock, settings.waitLimit, late => { this.#refuse(late) })
    this.#syncedAt = clock.elapsed()
  }

  get executing (): number { return this.#executing }
  get waiting (): number { return this.#line.size }
  get seatsInUse (): number { return this.#seatsInUse }
  get idle (): boolean { return this.#executing === 0 && this.#line.size === 0 }
  /** Milliseconds of the clock at the last call. */
  get now (): number { return this.#syncedAt }
  get settings (): QueueSettings { return this.#settings }

  /** By number; those that are missing are idle. */
  queues (): Queue[] { return this.#queues.all() }

  /** Virtual starts of what is next in its queue, the least and the most, without and with what runs of the same queue; undefined where nothing waits. */
  get nextStarts (): { readonly least: number, readonly most: number, readonly leastDiscounted: number, readonly mostDiscounted: number } | undefined {
    if (!this.#queues.anyPending) return undefined
    const pending = this.#queues.all().filter(({ waiting }) => waiting.size > 0)
    const starts = pending.map(({ nextR }) => nextR)
    const discounted = pending.map(({ nextR, seatsInUse }) => nextR - seatsInUse * EXPECTED_SECONDS)
    return { least: Math.min(...starts), most: Math.max(...starts), leastDiscounted: Math.min(...discounted), mostDiscounted: Math.max(...discounted) }
  }

  /** From now on. */
  configure (settings: QueueSettings): void {
    this.#sync()
    this.#settings = settings
    this.#queues.configure(settings.queues, settings.handSize)
    this.#line.configure(settings.waitLimit)
    this.#dispatch()
    this.#observer.changed?.(this)
  }

  /**
   * @param now on the clock, from whoever has just looked at it
   * @returns 'executing' where it may run at once; where it waits, the ticket is told later
   */
  enter (ticket: Ticket, now = this.#clock.elapsed()): 'executing' | 'waiting' | Refusal {
    this.#sync(now)
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
    // A queue that was quiet is not owed the time in which it was.
    if (queue.idle || (queue.waiting.size === 0 && queue.nextR < this.#currentR)) queue.nextR = this.#currentR
    ticket.queue = queue
    if (this.#line.size === 0 && this.#fits(ticket) && !this.#turns.isOver()) {
      this.#begin(ticket)
      return 'executing'
    }
    ticket.state = 'waiting'
    this.#queues.enqueue(ticket, queue)
    this.#line.add(ticket)
    this.#dispatch()
    return 'waiting'
  }

  /** It has run, or is not to run any more. Does nothing the second time. */
  leave (ticket: Ticket): void {
    if (ticket.state === 'executing') {
      this.#sync()
      this.#settle(ticket)
    } else if (ticket.state === 'waiting') {
      this.#sync()
      this.#forget(ticket)
    } else return
    this.#goOn()
  }

  /** Nobody is told any more. */
  close (): void { this.#line.close() }

  /** Virtual time goes on by what each busy queue could have had since of the seats that were taken: those that stay free for a turn serve nobody. */
  #sync (now = this.#clock.elapsed()): void {
    const passed = now - this.#syncedAt
    if (passed <= 0) return
    this.#syncedAt = now
    const { busy } = this.#queues
    if (busy > 0) this.#currentR += passed / 1000 * Math.min(this.#seatsInUse, this.#settings.limit) / busy
  }

  /** One wider than the level runs alone. */
  #fits ({ seats }: Ticket): boolean {
    return this.#seatsInUse + seats <= this.#settings.limit || this.#seatsInUse === 0
  }

  #begin (ticket: Ticket): void {
    const { queue, seats } = ticket
    if (queue !== undefined) {
      this.#observer.dispatched?.(this.#currentR, queue.nextR)
      this.#queues.begin(ticket, queue)
    }
    if (ticket.state === 'waiting') this.#line.delete(ticket)
    ticket.state = 'executing'
    ticket.startedAt = this.#syncedAt
    this.#executing++
    this.#take(ticket, seats)
  }

  #take ({ queue }: Ticket, seats: number): void {
    this.#seatsInUse += seats
    if (queue !== undefined) queue.seatsInUse += seats
  }

  /** Charges what it cost in place of what it was taken to cost, and frees its seats when what follows from it is over too. */
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
      this.#goOn()
    })
  }

  #end (ticket: Ticket, seats: number): void {
    ticket.state = 'over'
    this.#executing--
    this.#take(ticket, -seats)
    if (ticket.queue !== undefined) this.#queues.end(ticket.queue)
    ticket.released()
  }

  #forget (ticket: Ticket): void {
    ticket.state = 'over'
    this.#line.delete(ticket)
    if (ticket.queue !== undefined) this.#queues.dequeue(ticket, ticket.queue)
  }

  #refuse (late: readonly Ticket[]): void {
    this.#sync()
    for (const ticket of late) this.#forget(ticket)
    for (const ticket of late) ticket.refused('time-out')
    this.#goOn()
  }

  #goOn (): void {
    this.#dispatch()
    this.#observer.changed?.(this)
    if (this.idle) this.#observer.idle?.()
  }

  /** Gives a seat to whoever's turn it is when others have been heard, then to the next one. */
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

  /** Whose turn it is, where there are seats for it. */
  #next (): Ticket | undefined {
    const ticket = this.#queues.next()
    if (ticket === undefined || this.#fits(ticket)) return ticket
    this.#observer.notAccommodated?.(ticket)
    return undefined
  }
}
