import type { Clock } from '../../../storage/embedded/clock.js'

/** Time that stands still until the test moves it. */
export class HeldClock implements Clock {
  #now = 1_000_000
  #timers: Array<{ at: number, callback: () => void }> = []

  wall (): number {
    return this.#now
  }

  elapsed (): number {
    return this.#now
  }

  after (milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback }
    this.#timers.push(timer)
    return () => { this.#timers = this.#timers.filter(other => other !== timer) }
  }

  pass (milliseconds: number): void {
    const until = this.#now + milliseconds
    while (true) {
      const next = this.#timers.filter(timer => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter(timer => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
    }
    this.#now = until
  }

  /** The wall clock of another start of the machine. */
  static at (wall: number): HeldClock {
    const clock = new HeldClock()
    clock.#now = wall
    return clock
  }
}
