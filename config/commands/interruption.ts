/**
 * Handles SIGINT, SIGTERM and SIGHUP: the command removes its partial output and exits. A second signal ends the
 * process immediately.
 */
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export class Interrupted extends Error {
  readonly exitCode: number

  constructor (signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`)
    this.exitCode = 128 + constants.signals[signal]
  }
}

export class Interruption {
  #signal: NodeJS.Signals | undefined

  constructor () {
    for (const signal of SIGNALS) process.on(signal, this.#received)
  }

  /** @throws Interrupted */
  check (): void {
    if (this.#signal !== undefined) throw new Interrupted(this.#signal)
  }

  /** Restores the default handling of signals. */
  end (): void {
    for (const signal of SIGNALS) process.removeListener(signal, this.#received)
  }

  readonly #received = (signal: NodeJS.Signals): void => {
    this.#signal = signal
    this.end()
  }
}
