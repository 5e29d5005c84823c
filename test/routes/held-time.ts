import type { Time } from '../../routes/watch-turns.js'

/** Time that stands still until the test moves it. */
export class HeldTime implements Time {
  #now = 12_345
  readonly #timers = new Set<{ every: number, next: number, then: () => void }>()

  get running (): number { return this.#timers.size }

  readonly now = (): number => this.#now

  readonly every = (milliseconds: number, then: () => void): () => void => {
    const timer = { every: milliseconds, next: this.#now + milliseconds, then }
    this.#timers.add(timer)
    return () => { this.#timers.delete(timer) }
  }

  pass (milliseconds: number): void {
    for (const until = this.#now + milliseconds; this.#now < until;) {
      this.#now = Math.min(until, ...[...this.#timers].map(({ next }) => next))
      this.#fire()
    }
  }

  /** Nothing ran meanwhile, as in a process that was stopped. */
  jump (milliseconds: number): void {
    this.#now += milliseconds
    this.#fire()
  }

  #fire (): void {
    for (const timer of this.#timers) {
      if (timer.next > this.#now) continue
      timer.next = this.#now + timer.every
      timer.then()
    }
  }
}
