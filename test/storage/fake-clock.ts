import type { Clock } from '../../event-loop/clock.js'

/** Time that stands still until a test advances it. */
export class FakeClock implements Clock {
  #now: number
  #timers: Array<{ readonly at: number, readonly callback: () => void }> = []

  /** @param now of the wall clock; differs after a restart of the machine */
  constructor (now = 1_000_000) { this.#now = now }

  wall (): number { return this.#now }
  elapsed (): number { return this.#now }

  after (milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback }
    this.#timers.push(timer)
    return () => { this.#timers = this.#timers.filter(other => other !== timer) }
  }

  /** Milliseconds until each timer fires, the nearest first. */
  get waits (): number[] { return this.#timers.map(({ at }) => at - this.#now).sort((a, b) => a - b) }

  /** Fires timers in order, each at its time, including those that they set. */
  advance (milliseconds: number): void {
    const until = this.#now + milliseconds
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter(timer => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
    }
    this.#now = until
  }
}

/** A few event loop turns: whatever waits for nothing external is done by then. */
export async function turns (): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => { setImmediate(resolve) })
}
