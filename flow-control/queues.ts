/**
 * The queues of a priority level: assigns requests to queues and chooses the next request. Idle queues cost nothing,
 * whatever their configured number.
 */
import { Dealer } from './shuffle-sharding.js'
import { Queue, type Ticket } from './queue.js'

/** Idle queues kept for reuse. */
const MAX_IDLE_QUEUES = 256

export class Queues {
  readonly #queues = new Map<number, Queue>()
  /** Queues with waiting requests. */
  readonly #pending = new Set<Queue>()
  #number: number
  #handSize: number
  #dealer: Dealer
  #dealt = 0
  /** Number of busy queues. */
  busy = 0

  constructor (number: number, handSize: number) {
    this.#number = number
    this.#handSize = handSize
    this.#dealer = new Dealer(number, handSize)
  }

  get anyPending (): boolean { return this.#pending.size > 0 }

  /** By number; missing ones are idle. */
  all (): Queue[] { return [...this.#queues.values()].sort((one, other) => one.index - other.index) }

  /** Requests in removed queues keep waiting there. */
  configure (number: number, handSize: number): void {
    if (number === this.#number && handSize === this.#handSize) return
    this.#number = number
    this.#handSize = handSize
    this.#dealer = new Dealer(number, handSize)
  }

  /** The least loaded queue of the flow's hand; equal ones are used in turn. */
  choose ({ schema, distinguisher }: Ticket): Queue {
    const hand = this.#dealer.hand(schema, distinguisher)
    const offset = this.#dealt++ % hand.length
    let best: Queue | undefined
    let minLoad = Infinity
    for (let at = 0; at < hand.length; at++) {
      const index = hand[(offset + at) % hand.length] ?? 0
      const queue = this.#queues.get(index)
      if (queue === undefined) return this.#createQueue(index)
      const { load } = queue
      if (load === 0) return queue
      if (load >= minLoad) continue
      minLoad = load
      best = queue
    }
    return best ?? this.#createQueue(0)
  }

  enqueue (ticket: Ticket, queue: Queue): void {
    if (queue.idle) this.busy++
    queue.add(ticket)
    queue.bound()
    this.#pending.add(queue)
  }

  dequeue (ticket: Ticket, queue: Queue): void {
    queue.delete(ticket)
    if (queue.waiting.size === 0) this.#pending.delete(queue)
    this.#releaseIfIdle(queue)
  }

  /** Starts a new or waiting request. */
  startExecuting (ticket: Ticket, queue: Queue): void {
    if (queue.idle) this.busy++
    queue.executing++
    queue.nextR += ticket.expectedWork
    if (ticket.state === 'waiting') this.dequeue(ticket, queue)
  }

  end (queue: Queue): void {
    queue.executing--
    this.#releaseIfIdle(queue)
  }

  /** The oldest request of the queue that would finish first in virtual time. */
  next (): Ticket | undefined {
    if (this.#pending.size === 0) return undefined
    let best: Ticket | undefined
    let soonest = Infinity
    for (const queue of this.#pending) {
      const { oldest } = queue
      if (oldest === undefined) continue
      const finish = queue.nextR + oldest.expectedWork
      if (finish >= soonest) continue
      soonest = finish
      best = oldest
    }
    return best
  }

  #createQueue (index: number): Queue {
    const queue = new Queue(index)
    this.#queues.set(index, queue)
    return queue
  }

  #releaseIfIdle (queue: Queue): void {
    if (!queue.idle) return
    this.busy--
    if (this.#queues.size > MAX_IDLE_QUEUES || queue.index >= this.#number) this.#queues.delete(queue.index)
  }
}
