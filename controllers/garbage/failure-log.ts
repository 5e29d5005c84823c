/** Failures in the log. Each object fails for itself: a few of many failures say enough. */
import { UnknownKind } from './owners.js'

/** Milliseconds between failures in the log. */
const LOG_MS = 10_000
/** Unknown kinds that are remembered. */
const MAX_UNKNOWN = 100

export class FailureLog {
  readonly #log: (message: string, error: unknown) => void
  /** Those that are in the log, until there are other types. */
  readonly #unknownKinds = new Set<string>()
  #loggedAt = -Infinity
  #unlogged = 0

  constructor (log: (message: string, error: unknown) => void) { this.#log = log }

  add (error: unknown): void {
    if (error instanceof UnknownKind) {
      if (this.#unknownKinds.has(error.message)) return
      if (this.#unknownKinds.size >= MAX_UNKNOWN) this.#unknownKinds.clear()
      this.#unknownKinds.add(error.message)
    }
    const now = performance.now()
    if (now - this.#loggedAt < LOG_MS) {
      this.#unlogged++
      return
    }
    const more = this.#unlogged === 0 ? '' : `, as ${this.#unlogged} did before`
    // Only what is a fault has a stack.
    if (error instanceof UnknownKind) this.#log(`garbage collection waits: ${error.message}${more}`, undefined)
    else this.#log(`garbage collection of an object failed, retrying${more}`, error)
    this.#loggedAt = now
    this.#unlogged = 0
  }

  /** There are other types: kinds that are still unknown are worth another line. */
  typesChanged (): void { this.#unknownKinds.clear() }
}
