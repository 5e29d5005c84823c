/**
 * Starts the next fork of a server ahead, while the test uses the current one. A fork costs as much CPU either way, but
 * the test waits for nothing. Once a state has been forked twice it is likely to be forked again.
 */
import type { MovableClock } from './clock.js'
import type { TestServer } from './contract.js'

/** A server that nobody uses yet. */
export interface Unused {
  /** Whether it keeps the process alive; initially it does. */
  readonly keepAlive: (alive: boolean) => void
  readonly server: TestServer
}

interface Next {
  readonly resourceVersion: string
  readonly sameTime: () => boolean
  /** Undefined if it could not be started. */
  readonly started: Promise<Unused | undefined>
}

/** Maximum difference of two clocks that show the same time; they count whole milliseconds. */
const SAME_MS = 2

export class NextFork {
  readonly #clock: MovableClock
  readonly #start: () => Promise<Unused>
  #lastForked = ''
  #next: Next | undefined
  readonly #ending = new Set<Promise<void>>()
  #closed = false

  /** @param start starts a fork of the current state */
  constructor (clock: MovableClock, start: () => Promise<Unused>) {
    this.#clock = clock
    this.#start = start
  }

  /** The fork that was started ahead, if it is of this state and time. */
  async take (resourceVersion: string): Promise<TestServer | undefined> {
    const next = this.#next
    if (next === undefined) return undefined
    if (next.resourceVersion !== resourceVersion || !next.sameTime()) {
      this.#end()
      return undefined
    }
    this.#next = undefined
    const unused = await next.started
    unused?.keepAlive(true)
    return unused?.server
  }

  /** Call it when a state has been forked. */
  prepare (resourceVersion: string): void {
    const again = this.#lastForked === resourceVersion
    this.#lastForked = resourceVersion
    if (!again || this.#closed || this.#next !== undefined) return
    const started = this.#start().then(unused => {
      unused.keepAlive(false)
      return unused
    }, () => undefined)
    this.#next = { resourceVersion, sameTime: timeOf(this.#clock), started }
  }

  async close (): Promise<void> {
    this.#closed = true
    this.#end()
    await Promise.all(this.#ending)
  }

  /** Disposes of the fork that was started ahead. */
  #end (): void {
    if (this.#next === undefined) return
    const ending = this.#next.started.then(unused => unused?.server.dispose()).finally(() => {
      this.#ending.delete(ending)
    })
    this.#ending.add(ending)
    this.#next = undefined
  }
}

/** Returns whether the clock has been neither held, moved nor run since. */
function timeOf (clock: MovableClock): () => boolean {
  const [held, time, at] = [clock.held, clock.wall(), performance.now()]
  return () => clock.held === held && Math.abs(clock.wall() - time - (held ? 0 : performance.now() - at)) <= SAME_MS
}
