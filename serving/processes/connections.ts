/**
 * Passes each accepted connection to the process with the fewest, among those that are ready and answer. The supervisor
 * reads nothing from them: TLS handshakes happen in the processes.
 * Node's `cluster` module is not used: it distributes connections in turn without counting those that ended, leaks
 * connections that are being passed to a process that dies, and closes the port when the last process has died.
 */
import type { Socket } from 'node:net'

/** Maximum number of connections that wait while there is no process; further ones are closed. */
const MAX_WAITING = 1000

export interface ServingProcess {
  /** Sends a connection to the process and keeps it open here. Called again only after `accepted`. */
  readonly take: (socket: Socket) => void
}

interface Share {
  open: number
  /** Sent to the process; kept open here until the process confirms it. */
  underWay: Socket | undefined
  readonly queue: Socket[]
  /** The process hangs or is very busy. */
  silent: boolean
  /** Its readyz has passed once. Until then it gets connections only if no process that answers is ready. */
  ready: boolean
}

const rank = ({ silent, ready }: Share): number => (silent ? 2 : 0) + (ready ? 0 : 1)
const precedes = (one: Share, other: Share): boolean => (rank(one) - rank(other) || one.open - other.open) < 0

export class Connections {
  readonly #shares = new Map<ServingProcess, Share>()
  readonly #waiting: Socket[] = []

  /** Number of connections of each process, in the order in which they were added or last chosen. */
  get counts (): number[] { return [...this.#shares.values()].map(({ open }) => open) }

  add (process: ServingProcess): void {
    this.#shares.set(process, { open: 0, underWay: undefined, queue: [], silent: false, ready: false })
    for (const socket of this.#waiting.splice(0)) this.give(socket)
  }

  /** Passes the connections that the process has not confirmed to others; nothing was read from them. */
  remove (process: ServingProcess): void {
    const share = this.#shares.get(process)
    this.#shares.delete(process)
    if (share === undefined) return
    if (share.underWay !== undefined) this.give(share.underWay)
    for (const socket of share.queue) this.give(socket)
  }

  /**
   * Gives the connections that wait for a silent process to others. While other processes answer, it gets no new ones.
   */
  silent (process: ServingProcess): void {
    const share = this.#shares.get(process)
    if (share === undefined) return
    share.silent = true
    const waiting = share.queue.splice(0)
    share.open -= waiting.length
    for (const socket of waiting) this.give(socket)
  }

  ready (process: ServingProcess): void {
    const share = this.#shares.get(process)
    if (share !== undefined) share.ready = true
  }

  answers (process: ServingProcess): void {
    const share = this.#shares.get(process)
    if (share !== undefined) share.silent = false
  }

  give (socket: Socket): void {
    let least: [ServingProcess, Share] | undefined
    for (const candidate of this.#shares) if (least === undefined || precedes(candidate[1], least[1])) least = candidate
    if (least === undefined) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(socket)
      else socket.destroy()
      return
    }
    const [process, share] = least
    // Processes with equal counts take turns.
    this.#shares.delete(process)
    this.#shares.set(process, share)
    share.open++
    share.queue.push(socket)
    this.#next(process, share)
  }

  accepted (process: ServingProcess): void {
    const share = this.#shares.get(process)
    if (share === undefined) return
    share.underWay?.destroy() // it stays open in the process
    share.underWay = undefined
    this.#next(process, share)
  }

  ended (process: ServingProcess, connections: number): void {
    const share = this.#shares.get(process)
    if (share !== undefined) share.open -= connections
  }

  close (): void { for (const socket of this.#waiting.splice(0)) socket.destroy() }

  #next (process: ServingProcess, share: Share): void {
    if (share.underWay !== undefined) return
    share.underWay = share.queue.shift()
    if (share.underWay !== undefined) process.take(share.underWay)
  }
}
