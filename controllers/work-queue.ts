/**
 * Keys to be worked on. A key is in the queue once, however often it is added; it is never worked on twice at a time, and
 * one that is added meanwhile is worked on again afterwards, so that no change goes unseen. What is not done comes back
 * after waits of its own that double; the waits of all together may be spread over time.
 */
import { nextTurn, turnIsOver } from '../storage/turns.js'
import { type Clock, systemClock } from '../storage/clock.js'

/** done: its waits begin anew. again: now, for there is a next step. later: after its wait, for something else has to happen first. */
export type Verdict = 'done' | 'again' | 'later'

/** Milliseconds: the first wait, and the longest. */
export interface Backoff { readonly first: number, readonly most: number }

export interface WorkQueueOptions {
  /** Keys at a time. */
  readonly workers: number
  /** One step for a key. The signal aborts when the queue is closed. */
  readonly work: (key: string, signal: AbortSignal) => Promise<Verdict>
  /** Told of each failure; the key comes back after its wait. */
  readonly failed: (key: string, error: unknown) => void
  /** Between looks at a key that waits for something. Default 50 to 5000. */
  readonly backoff?: Backoff
  /** Between attempts at a key that failed. Default 1000 to 1000. */
  readonly retry?: Backoff
  /** Of all keys together, how many may come back each second after `burst` did at once. Default any. */
  readonly rate?: { readonly perSecond: number, readonly burst: number }
  readonly clock?: Clock
  /** Of all queues, in metrics. */
  readonly name?: string
  readonly observe?: ObserveQueue | undefined
}

/** Told of what a queue does, for metrics; times are milliseconds. */
export interface WorkQueueObserver {
  readonly added: () => void
  /** It comes back after a wait. */
  readonly retried: () => void
  readonly begun: (waited: number) => void
  readonly done: (took: number) => void
}

/** Makes the observer of a queue; `queue` may be looked at whenever somebody asks. */
export type ObserveQueue = (name: string, queue: Pick<WorkQueue, 'depth' | 'underWay'>) => WorkQueueObserver

interface Waiting { readonly at: number, readonly cancel: () => void }

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #observer: WorkQueueObserver | undefined
  /** And since when. */
  readonly #ready = new Map<string, number>()
  readonly #inFlight = new Map<string, number>()
  /** Added while they are in flight. */
  readonly #again = new Set<string>()
  readonly #waiting = new Map<string, Waiting>()
  /** How often in a row, per key. */
  readonly #looks = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  #tokens: number
  #tokensAt: number
  #scheduled = false
  #idle: (() => void) | undefined

  constructor (options: WorkQueueOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#tokens = options.rate?.burst ?? 0
    this.#tokensAt = this.#clock.elapsed()
    this.#observer = options.observe?.(options.name ?? '', this)
  }

  /** Keys that are to be worked on now or are. */
  get length (): number { return this.#ready.size + this.#inFlight.size }
  /** Keys that are to be worked on. */
  get depth (): number { return this.#ready.size }
  /** Milliseconds that work which is not done has taken until now: of all together, and of the longest. */
  get underWay (): { readonly all: number, readonly longest: number } {
    const now = this.#clock.elapsed()
    let all = 0
    let longest = 0
    for (const since of this.#inFlight.values()) {
      all += now - since
      longest = Math.max(longest, now - since)
    }
    return { all, longest }
  }

  /** Keys that wait for their time. */
  get waiting (): number { return this.#waiting.size }

  add (key: string): void {
    if (this.#closing.signal.aborted) return
    if (this.#inFlight.has(key)) {
      if (!this.#again.has(key)) this.#observer?.added()
      this.#again.add(key)
      return
    }
    if (!this.#ready.has(key)) {
      this.#observer?.added()
      this.#ready.set(key, this.#clock.elapsed())
    }
    this.#schedule()
  }

  /** In so many milliseconds, or sooner where that was asked for before. */
  addAfter (key: string, milliseconds: number): void {
    if (this.#closing.signal.aborted) return
    if (milliseconds <= 0) return this.add(key)
    const at = this.#clock.elapsed() + milliseconds
    const before = this.#waiting.get(key)
    if (before !== undefined && before.at <= at) return
    before?.cancel()
    const cancel = this.#clock.after(milliseconds, () => {
      this.#waiting.delete(key)
      this.add(key)
    })
    this.#waiting.set(key, { at, cancel })
  }

  /** Its waits begin anew. */
  forget (key: string): void {
    this.#looks.delete(key)
    this.#failures.delete(key)
  }

  /** Nothing is begun any more. Resolves when nothing is in flight. */
  async close (): Promise<void> {
    this.#closing.abort()
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
    this.#ready.clear()
    this.#again.clear()
    if (this.#inFlight.size > 0) await new Promise<void>(resolve => { this.#idle = resolve })
  }

  /** In a later turn: whoever adds a thousand keys is not interrupted by the first. */
  #schedule (): void {
    if (this.#scheduled || this.#inFlight.size >= this.#options.workers) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#ready.size > 0 && this.#inFlight.size < this.#options.workers) void this.#worker()
    })
  }

  /** Works until there is nothing to do. */
  async #worker (): Promise<void> {
    for (const [key, since] of this.#ready) {
      const begun = this.#clock.elapsed()
      this.#ready.delete(key)
      this.#inFlight.set(key, begun)
      this.#observer?.begun(begun - since)
      await this.#step(key)
      const ended = this.#clock.elapsed()
      this.#observer?.done(ended - begun)
      this.#inFlight.delete(key)
      if (this.#again.delete(key)) this.#ready.set(key, ended)
      if (turnIsOver()) {
        // Steps that wait for nothing must not keep everybody else waiting.
        await nextTurn()
      }
      if (this.#inFlight.size >= this.#options.workers) break
    }
    if (this.#ready.size > 0) this.#schedule()
    if (this.#inFlight.size === 0) this.#idle?.()
  }

  async #step (key: string): Promise<void> {
    const { work, failed, backoff = { first: 50, most: 5000 }, retry = { first: 1000, most: 1000 } } = this.#options
    const { signal } = this.#closing
    let verdict: Verdict
    try {
      verdict = await work(key, signal)
    } catch (error) {
      if (signal.aborted) return
      failed(key, error)
      this.#observer?.retried()
      return this.addAfter(key, this.#wait(key, this.#failures, retry))
    }
    this.#failures.delete(key)
    if (verdict === 'later') {
      this.#observer?.retried()
      return this.addAfter(key, this.#wait(key, this.#looks, backoff))
    }
    this.#looks.delete(key)
    if (verdict === 'again') this.add(key)
  }

  #wait (key: string, times: Map<string, number>, { first, most }: Backoff): number {
    const before = times.get(key) ?? 0
    times.set(key, before + 1)
    return Math.max(Math.min(first * 2 ** before, most), this.#reserve())
  }

  /** Milliseconds until the next place among those who come back. */
  #reserve (): number {
    const { rate } = this.#options
    if (rate === undefined) return 0
    const now = this.#clock.elapsed()
    this.#tokens = Math.min(rate.burst, this.#tokens + (now - this.#tokensAt) / 1000 * rate.perSecond) - 1
    this.#tokensAt = now
    return Math.max(0, -this.#tokens / rate.perSecond * 1000)
  }
}
