/** The queues of a priority level: which one a request joins, whose turn it is, and which are kept. Idle ones cost nothing, whatever their configured number. */
import { Dealer } from './shuffle-sharding.js'
import { Queue, type Ticket } from './queue.js'

/** Idle queues that are kept, so that a busy level makes none. */
const IDLE_QUEUES_KEPT = 256

export class Queues {
  readonly #queues = new Map<number, Queue>()
  /** Those with somebody waiting. */
  readonly #pending = new Set<Queue>()
  #number: number
  #handSize: number
  #dealer: Dealer
  #dealt = 0
  /** Those that are not idle. */
  busy = 0

  constructor (number: number, handSize: number) {
    this.#number = number
    this.#handSize = handSize
    this.#dealer = new Dealer(number, handSize)
  }

  get anyPending (): boolean { return this.#pending.size > 0 }

  /** By number; those that are missing are idle. */
  all (): Queue[] { return [...this.#queues.values()].sort((one, other) => one.index - other.index) }

  /** Who waits in a queue that there is no more goes on waiting in it. */
  configure (number: number, handSize: number): void {
    if (number === this.#number && handSize === this.#handSize) return
    this.#number = number
    this.#handSize = handSize
    this.#dealer = new Dealer(number, handSize)
  }

  /** That of the hand of its flow with the least before it; of equal ones another each time. */
  choose ({ schema, distinguisher }: Ticket): Queue {
    const hand = this.#dealer.hand(schema, distinguisher)
    const offset = this.#dealt++ % hand.length
    let best: Queue | undefined
    let least = Infinity
    for (let at = 0; at < hand.length; at++) {
      const index = hand[(offset + at) % hand.length] ?? 0
      const queue = this.#queues.get(index)
      if (queue === undefined) return this.#make(index)
      const { load } = queue
      if (load === 0) return queue
      if (load >= least) continue
      least = load
      best = queue
    }
    return best ?? this.#make(0)
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
    this.#rest(queue)
  }

  /** One that does not wait, or no more, runs. */
  begin (ticket: Ticket, queue: Queue): void {
    if (queue.idle) this.busy++
    queue.executing++
    queue.nextR += ticket.expectedWork
    if (ticket.state === 'waiting') this.dequeue(ticket, queue)
  }

  end (queue: Queue): void {
    queue.executing--
    this.#rest(queue)
  }

  /** Whose turn it is: the first of the queue whose first would be finished the soonest in virtual time. */
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

  #make (index: number): Queue {
    const queue = new Queue(index)
    this.#queues.set(index, queue)
    return queue
  }

  #rest (queue: Queue): void {
    if (!queue.idle) return
    this.busy--
    if (this.#queues.size > IDLE_QUEUES_KEPT || queue.index >= this.#number) this.#queues.delete(queue.index)
  }
}
