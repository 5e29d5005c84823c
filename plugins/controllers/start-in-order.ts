/**
 * Starts controllers, each after the post-start hook that it names, and closes them. Readiness waits for those that
 * have a hook. A start that fails, for instance while the store is unavailable, is repeated until it succeeds. If a
 * server has several processes, one of them leads, and only that one runs the controllers that write.
 */
import type { Controller } from '../../controllers/controller.js'
import type { Leadership } from '../../controllers/leadership.js'

const RETRY_MS = 1000
/** Maximum milliseconds to wait for controllers at shutdown, in case the store is unavailable. */
const MAX_CLOSING_MS = 1000

export interface Started {
  /** Name of its post-start hook; none if readiness does not depend on it. */
  readonly name?: string
  /** Failure message for the log. */
  readonly task: string
  readonly controllers: readonly Controller[]
  /** Name of the post-start hook to await first. */
  readonly after?: string
  /** Each process of a server runs it: it keeps in memory what requests need. Default: the one that leads. */
  readonly everywhere?: true
}

export interface StarterOptions {
  readonly log: (message: string, error: unknown) => void
  /** Announces a post-start hook. */
  readonly postStart: (name: string, finished: Promise<void>) => void
  /** Hooks that precede all later ones, if there are such. */
  readonly first: readonly string[]
  /** Default this process alone. */
  readonly leadership?: Leadership | undefined
}

export class Starter {
  readonly #all: readonly Started[]
  readonly #options: StarterOptions
  readonly #closing = new AbortController()
  readonly #hooks = new Map<string, Promise<void>>()

  constructor (all: readonly Started[], options: StarterOptions) {
    this.#all = all
    this.#options = options
  }

  start (): void {
    const { leadership } = this.#options
    const awaited = this.#all.map(part => this.#inTurn(part))
    if (leadership === undefined) return
    void Promise.all(awaited).then(() => { if (!this.#closing.signal.aborted) leadership.lead() })
  }

  async close (): Promise<void> {
    this.#closing.abort()
    const closed =
      Promise.all(this.#all.flatMap(({ controllers }) => controllers.map(controller => controller.close())))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([closed, new Promise(resolve => { timer = setTimeout(resolve, MAX_CLOSING_MS) })])
    clearTimeout(timer)
  }

  /** Resolves when what readiness waits for is done. */
  #inTurn (part: Started): Promise<void> | undefined {
    const { first, leadership, postStart } = this.#options
    const before = [part.after ?? '', ...first].flatMap(name => this.#hooks.get(name) ?? [])
    const leads = leadership !== undefined && part.everywhere !== true ? leadership : undefined
    if (leads !== undefined) before.push(leads.elected)
    const started = before.length === 0 ? this.#run(part) : Promise.all(before).then(() => this.#run(part))
    if (part.name === undefined) return undefined
    const finished = leads === undefined ? started : Promise.race([started, leads.led])
    this.#hooks.set(part.name, finished)
    postStart(part.name, finished)
    return started
  }

  async #run ({ controllers, task }: Started): Promise<void> {
    let failed = false
    for (const controller of controllers) {
      for (let started = false; !started;) {
        if (this.#closing.signal.aborted) return
        try {
          await controller.start()
          started = true
        } catch (error) {
          if (this.#closing.signal.aborted) return
          if (!failed) this.#options.log(`${task}, retrying`, error)
          failed = true
          await new Promise(resolve => { setTimeout(resolve, RETRY_MS).unref() })
        }
      }
    }
  }
}
