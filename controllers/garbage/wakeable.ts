/** Lets a loop wait until there is something to do; a call that comes while it works is not lost. */
export class Wakeable {
  #isDue = false
  #resume: (() => void) | undefined

  /** @param signal wakes it for good */
  constructor (private readonly signal: AbortSignal) {
    signal.addEventListener('abort', () => { this.wake() }, { once: true })
  }

  wake (): void {
    this.#isDue = true
    this.#resume?.()
  }

  async wait (): Promise<void> {
    if (!this.#isDue && !this.signal.aborted) await new Promise<void>(resolve => { this.#resume = resolve })
    this.#resume = undefined
    this.#isDue = false
  }
}
