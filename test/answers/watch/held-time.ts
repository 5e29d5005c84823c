import type { Clock } from '../../../event-loop/clock.js'

/** Time that stands still until the test moves it. */
export class HeldTime implements Clock {
  #now = 12_345
  readonly #timers = new Set<{ at: number, then: () => void }>()

  get running (): number { return this.#timers.size }

  readonly wall = (): number => this.#now
  readonly elapsed = (): number => this.#now

  readonly after = (milliseconds: number, then: () => void): () => void => {
    const timer = { at: this.#now + milliseconds, then }
    this.#timers.add(timer)
    return () => { this.#timers.delete(timer) }
  }

  pass (milliseconds: number): void {
    for (const until = this.#now + milliseconds; this.#now < until;) {
      this.#now = Math.min(until, ...[...this.#timers].map(({ at }) => at))
      this.#fire()
    }
  }

  /** Moves the time without running timers in between, as in a process that was stopped. */
  jump (milliseconds: number): void {
    this.#now += milliseconds
    this.#fire()
  }

  #fire (): void {
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue
      timer.then()
    }
  }
}
