import { nextTurn, turnIsOver } from '../turns.js'

const STEPS_PER_CHECK = 32

/** Divides a long piece of work of many small steps into turns of the event loop. */
export class Pace {
  #steps = 0

  /** True when the turn is used up; asks the time only now and then. */
  spent (): boolean { return ++this.#steps % STEPS_PER_CHECK === 0 && turnIsOver() }

  /** Lets the event loop turn once. */
  async rest (): Promise<void> { await nextTurn() }
}
