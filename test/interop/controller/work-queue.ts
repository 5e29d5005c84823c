/**
 * Keys that are processed once, however often they are added, by one worker at a time, and again after a pause if that
 * fails.
 */
const FIRST_PAUSE = 50
const MAX_PAUSE = 1000

export class WorkQueue {
  readonly #waiting = new Set<string>()
  readonly #working = new Set<string>()
  readonly #again = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  readonly #work: (key: string) => Promise<void>
  readonly #workers: number
  #stopped = false
  /** Number of failures. */
  failed = 0

  constructor (workers: number, work: (key: string) => Promise<void>) {
    this.#workers = workers
    this.#work = work
  }

  add (key: string): void {
    if (this.#stopped) return
    if (this.#working.has(key)) this.#again.add(key)
    else this.#waiting.add(key)
    this.#next()
  }

  #next (): void {
    for (const key of this.#waiting) {
      if (this.#working.size >= this.#workers) return
      this.#waiting.delete(key)
      this.#working.add(key)
      void this.#do(key)
    }
  }

  async #do (key: string): Promise<void> {
    try {
      await this.#work(key)
      this.#failures.delete(key)
    } catch {
      this.failed++
      const failures = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      const pause = setTimeout(() => {
        this.#pauses.delete(pause)
        this.add(key)
      }, Math.min(FIRST_PAUSE * 2 ** failures, MAX_PAUSE))
      this.#pauses.add(pause)
    }
    this.#working.delete(key)
    if (this.#again.delete(key)) this.add(key)
    if (!this.#stopped) this.#next()
  }

  /** Resolves when no worker is active. */
  async stop (): Promise<void> {
    this.#stopped = true
    for (const pause of this.#pauses) clearTimeout(pause)
    while (this.#working.size > 0) await new Promise(resolve => { setTimeout(resolve, 10) })
  }
}
