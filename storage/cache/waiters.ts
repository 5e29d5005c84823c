/** Those that wait for news, each for a limited time. */
export class Waiters {
  readonly #waiting = new Set<() => void>()

  /** Resolves after that time, or when they are woken. */
  pause (ms: number): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#waiting.add(done)
    })
  }

  wake (): void {
    if (this.#waiting.size === 0) return
    for (const wake of [...this.#waiting]) wake()
  }
}
