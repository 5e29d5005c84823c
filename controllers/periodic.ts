/** Base of controllers that do the same work at intervals. A failure is logged, and the next run comes all the same. */
import { type Clock, systemClock } from '../event-loop/clock.js'
import { serverContext, type WriteContext } from '../registry/write-context.js'
import { isStorageError } from '../storage/errors.js'
import type { Controller, ControllerOptions } from './controller.js'

export abstract class Periodic<Options extends ControllerOptions = ControllerOptions> implements Controller {
  protected readonly options: Options
  protected readonly clock: Clock
  /** Of its writes. */
  protected readonly context: WriteContext
  readonly #closing = new AbortController()
  #cancel: (() => void) | undefined
  #running: Promise<void> = Promise.resolve()

  constructor (options: Options) {
    this.options = options
    this.clock = options.clock ?? systemClock
    this.context = serverContext(this.#closing.signal)
  }

  /** Milliseconds from the end of a run to the next one. */
  protected abstract get interval (): number
  /** What the log says of a run that failed. */
  protected abstract get failure (): string
  protected abstract reconcile (): Promise<void>

  protected get isClosed (): boolean { return this.#closing.signal.aborted }

  /** Runs once, and then at intervals. Resolves when the first run has ended. @throws StorageError, StatusError */
  async start (): Promise<void> {
    await this.run()
    this.#schedule()
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#cancel?.()
    await this.#running.catch(() => {}) // reported to the caller of `run`
  }

  /** Does the work once. @throws StorageError, StatusError */
  async run (): Promise<void> { await (this.#running = this.reconcile()) }

  #schedule (): void {
    if (this.isClosed) return
    this.#cancel = this.clock.after(this.interval, () => {
      this.run().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.options.log(this.failure, error)
      }).finally(() => { this.#schedule() })
    })
  }
}
