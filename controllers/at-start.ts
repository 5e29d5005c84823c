/** What a server makes when it starts, and then leaves alone: done once, given up when the server closes. */
import type { Controller, ControllerOptions } from './controller.js'

/** Objects that are made at a time. */
const AT_ONCE = 16

export abstract class AtStart<Options extends ControllerOptions = ControllerOptions> implements Controller {
  protected readonly options: Options
  readonly #closing = new AbortController()
  #making: Promise<void> | undefined

  constructor (options: Options) { this.options = options }

  protected abstract make (): Promise<void>

  /** Aborted when the server closes: what is not made by then is for the next start. */
  protected get closing (): AbortSignal { return this.#closing.signal }

  /** Makes what does not build on each other, several at a time: those that wait for the store share its next commit. */
  protected async each<T> (all: readonly T[], make: (one: T) => Promise<void>): Promise<void> {
    const left = all.values()
    const one = async (): Promise<void> => {
      for (const next of left) {
        if (this.closing.aborted) return
        await make(next)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
  }

  /** Resolves when it is made. */
  async start (): Promise<void> {
    this.#making = this.make()
    await this.#making
  }

  async close (): Promise<void> {
    this.#closing.abort()
    await this.#making?.catch(() => {}) // whoever started it was told
  }
}
