import { nextTurn, turnIsOver } from '../../event-loop/turns.js'

const STEPS_PER_CHECK = 32

/** Splits long work with many small steps into event loop turns. */
export class Yielder {
  #steps = 0

  /** True if the turn is over; checks the clock only every few steps. */
  isDue (): boolean { return ++this.#steps % STEPS_PER_CHECK === 0 && turnIsOver() }

  /** Waits for the next event loop turn. */
  async yield (): Promise<void> { await nextTurn() }
}
