/** How long a piece of work may hold the event loop before it lets others in, in milliseconds. */
const TURN = 4

/** Measures turns of a long piece of work. */
export class Pace {
  #started = performance.now()
  #steps = 0

  /** True when the turn is used up; asks the time only now and then. */
  spent (): boolean {
    return (++this.#steps & 31) === 0 && performance.now() - this.#started > TURN
  }

  /** Lets the event loop turn once. */
  async rest (): Promise<void> {
    await new Promise<void>(resolve => setImmediate(resolve))
    this.#started = performance.now()
  }
}
