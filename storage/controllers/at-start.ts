/** What a server makes when it starts, and then leaves alone: done once, given up when the server closes. */
import type { Controller, ControllerOptions } from './controller.js'

export abstract class AtStart<Options extends ControllerOptions = ControllerOptions> implements Controller {
  protected readonly options: Options
  readonly #closing = new AbortController()
  #making: Promise<void> | undefined

  constructor (options: Options) { this.options = options }

  protected abstract make (): Promise<void>

  /** Aborted when the server closes: what is not made by then is for the next start. */
  protected get closing (): AbortSignal { return this.#closing.signal }

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
