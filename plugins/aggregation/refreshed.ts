/**
 * What extension servers say of themselves: their resources and their OpenAPI documents. A server is asked when a
 * client needs this, but at most once a minute, or every five seconds after a failure. The client waits if the server
 * was not asked for two minutes; otherwise it gets the last answer, which is kept until a newer one or until the
 * APIService changes.
 */
import type { RegisteredService } from '../../controllers/aggregation/registered-services.js'

const FRESH_MS = 60_000
/** After a failure. */
const RETRY_MS = 5000
/** Age of an answer from which on a client waits for a newer one: upstream asks every minute, whoever wants to know. */
const OLD_MS = 2 * FRESH_MS
/** How long a client waits for what is not known yet. */
const WAIT_MS = 3000
const AT_ONCE = 8

interface Known<T> {
  readonly service: RegisteredService
  readonly value: T
  /** When it is to be asked; Infinity while it is. */
  dueAt: number
  triedAt: number
  settled: boolean
}

export interface RefreshedOptions<T> {
  /** Those to be asked now. */
  readonly services: () => readonly RegisteredService[]
  /** What is known of a server that was not asked. */
  readonly initial: () => T
  /** Asks a server and changes what is known of it. */
  readonly update: (service: RegisteredService, value: T) => Promise<void>
  readonly failed: (name: string, error: unknown, value: T) => void
  /** Milliseconds, for tests. */
  readonly now?: () => number
}

export class Refreshed<T> {
  readonly #options: RefreshedOptions<T>
  readonly #now: () => number
  readonly #known = new Map<string, Known<T>>()
  readonly #due: Array<Known<T>> = []
  #running = 0
  /** Set when something is forgotten, and by users when something is learned. */
  changed = false
  readonly #waiting = new Set<() => void>()

  constructor (options: RefreshedOptions<T>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  valueOf (name: string): T | undefined { return this.#known.get(name)?.value }

  /** Resolves when all have been asked once, or after a while; what is old is asked for meanwhile. */
  async current (): Promise<void> {
    const services = this.#options.services()
    this.#drop(services)
    if (services.length === 0) return
    const now = this.#now()
    for (const service of services) {
      let known = this.#known.get(service.name)
      if (known === undefined) {
        this.#known.set(service.name, known = {
          service, dueAt: now, triedAt: -Infinity, settled: false, value: this.#options.initial()
        })
      }
      if (now < known.dueAt) continue
      if (now - known.triedAt > OLD_MS) known.settled = false
      known.triedAt = now
      known.dueAt = Infinity
      this.#due.push(known)
    }
    this.#begin()
    await this.#settled()
  }

  /** Forgets group versions that are no longer asked, or that another server serves now. */
  #drop (services: readonly RegisteredService[]): void {
    const served = new Map(services.map(({ name, fingerprint }) => [name, fingerprint]))
    for (const [name, { service: { fingerprint } }] of this.#known) {
      if (served.get(name) === fingerprint) continue
      this.#known.delete(name)
      this.changed = true
    }
  }

  #begin (): void {
    while (this.#running < AT_ONCE) {
      const known = this.#due.shift()
      if (known === undefined) return
      this.#running++
      const { service, value } = known
      let wait = FRESH_MS
      this.#options.update(service, value).catch((error: unknown) => {
        wait = RETRY_MS
        this.#options.failed(service.name, error, value)
      }).finally(() => {
        known.dueAt = this.#now() + wait
        known.settled = true
        this.#running--
        for (const done of [...this.#waiting]) done()
        this.#begin()
      })
    }
  }

  async #settled (): Promise<void> {
    const isPending = (): boolean => [...this.#known.values()].some(({ settled }) => !settled)
    if (!isPending()) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(finish, WAIT_MS)
      const check = (): void => { if (!isPending()) finish() }
      const waiting = this.#waiting
      function finish (): void {
        clearTimeout(timer)
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
    })
  }
}
