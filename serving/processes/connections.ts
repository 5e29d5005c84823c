/**
 * Gives each connection to the process that has the fewest. The supervisor accepts them and reads nothing: the processes shake hands. Node's
 * own `cluster` gives them out in turn, whatever ended since, keeps open for ever those on their way to a process that dies, and closes the
 * port when the last process has died.
 */
import type { Socket } from 'node:net'

/** Connections that wait while no process takes any. More are closed. */
const MAX_WAITING = 1000

export interface Taker {
  /** Passes a connection on and leaves it open here. The taker is called again only after `accepted`. */
  readonly take: (socket: Socket) => void
}

interface Share {
  open: number
  /** Passed on, and still open here until the process has it. */
  underWay: Socket | undefined
  readonly queue: Socket[]
}

export class Connections {
  readonly #shares = new Map<Taker, Share>()
  readonly #waiting: Socket[] = []

  /** Connections of each taker, in the order in which they were added or last chosen. */
  get counts (): number[] { return [...this.#shares.values()].map(({ open }) => open) }

  add (taker: Taker): void {
    this.#shares.set(taker, { open: 0, underWay: undefined, queue: [] })
    for (const socket of this.#waiting.splice(0)) this.give(socket)
  }

  /** Gives what the taker has not taken to others: it has read nothing of it. */
  remove (taker: Taker): void {
    const share = this.#shares.get(taker)
    this.#shares.delete(taker)
    if (share === undefined) return
    if (share.underWay !== undefined) this.give(share.underWay)
    for (const socket of share.queue) this.give(socket)
  }

  give (socket: Socket): void {
    let least: [Taker, Share] | undefined
    for (const one of this.#shares) if (least === undefined || one[1].open < least[1].open) least = one
    if (least === undefined) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(socket)
      else socket.destroy()
      return
    }
    const [taker, share] = least
    // Those with equally many take turns.
    this.#shares.delete(taker)
    this.#shares.set(taker, share)
    share.open++
    share.queue.push(socket)
    this.#next(taker, share)
  }

  accepted (taker: Taker): void {
    const share = this.#shares.get(taker)
    if (share === undefined) return
    share.underWay?.destroy() // it stays open in the process
    share.underWay = undefined
    this.#next(taker, share)
  }

  ended (taker: Taker, connections: number): void {
    const share = this.#shares.get(taker)
    if (share !== undefined) share.open -= connections
  }

  close (): void { for (const socket of this.#waiting.splice(0)) socket.destroy() }

  #next (taker: Taker, share: Share): void {
    if (share.underWay !== undefined) return
    share.underWay = share.queue.shift()
    if (share.underWay !== undefined) taker.take(share.underWay)
  }
}
