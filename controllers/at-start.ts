/** Base of controllers that create objects once at start-up; shutdown cancels them. */
import type { Controller, ControllerOptions } from './controller.js'

/** Objects created concurrently. */
const CONCURRENCY = 16

export abstract class AtStart<Options extends ControllerOptions = ControllerOptions> implements Controller {
  protected readonly options: Options
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined

  constructor (options: Options) { this.options = options }

  protected abstract make (): Promise<void>

  /** Aborted at shutdown; the next start creates the rest. */
  protected get closing (): AbortSignal { return this.#closing.signal }

  /** Creates independent objects concurrently, so that they share commits of the store. */
  protected async each<T> (all: readonly T[], make: (worker: T) => Promise<void>): Promise<void> {
    const remaining = all.values()
    const worker = async (): Promise<void> => {
      for (const next of remaining) {
        if (this.closing.aborted) return
        await make(next)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  }

  /** Resolves when everything exists. */
  async start (): Promise<void> {
    this.#running = this.make()
    await this.#running
  }

  async close (): Promise<void> {
    this.#closing.abort()
    await this.#running?.catch(() => {}) // reported by `start`
  }
}
