/**
 * A queue of keys to reconcile. A key is queued once, however often it is added, and never processed concurrently; if
 * it is added while in process, it is processed again, so that no change is missed. Unfinished keys return after
 * doubling delays; a rate limit may apply to all keys.
 */
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { type Clock, systemClock } from '../event-loop/clock.js'

/** done: reset the delays. again: continue at once with the next step. later: retry after the delay. */
export type Verdict = 'done' | 'again' | 'later'

/** First and maximum delay in milliseconds. */
export interface Backoff { readonly first: number, readonly max: number }

export interface WorkQueueOptions {
  /** Concurrent keys. */
  readonly workers: number
  /** One step for a key. The signal aborts when the queue is closed. */
  readonly work: (key: string, signal: AbortSignal) => Promise<Verdict>
  /** Receives each failure; the key returns after its delay. */
  readonly failed: (key: string, error: unknown) => void
  /** Delays of keys that return 'later'. Default 50 to 5000. */
  readonly backoff?: Backoff
  /** Delays of keys that failed. Default 1000 to 1000. */
  readonly retry?: Backoff
  /** Maximum rate at which keys return, all together, after an initial `burst`. Default unlimited. */
  readonly rate?: { readonly perSecond: number, readonly burst: number }
  readonly clock?: Clock
  /** Name in metrics. */
  readonly name?: string
  readonly observe?: ObserveQueue | undefined
}

/** Observes a queue, for metrics; times are milliseconds. */
export interface WorkQueueObserver {
  readonly added: () => void
  /** The key returns after a delay. */
  readonly retried: () => void
  readonly begun: (waited: number) => void
  readonly done: (duration: number) => void
}

/** Creates the observer of a queue; `queue` may be read at any time. */
export type ObserveQueue = (name: string, queue: Pick<WorkQueue, 'depth' | 'inProgress'>) => WorkQueueObserver

interface Waiting { readonly at: number, readonly cancel: () => void }

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #observer: WorkQueueObserver | undefined
  /** Keys to process, with the time they were queued. */
  readonly #ready = new Map<string, number>()
  readonly #inFlight = new Map<string, number>()
  /** Keys added while in flight. */
  readonly #requeue = new Set<string>()
  readonly #waiting = new Map<string, Waiting>()
  /** Consecutive 'later' results per key. */
  readonly #waits = new Map<string, number>()
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

  /** Keys queued or in flight. */
  get length (): number { return this.#ready.size + this.#inFlight.size }
  /** Keys queued. */
  get depth (): number { return this.#ready.size }
  /** Milliseconds of unfinished work: total and longest. */
  get inProgress (): { readonly all: number, readonly longest: number } {
    const now = this.#clock.elapsed()
    let all = 0
    let longest = 0
    for (const since of this.#inFlight.values()) {
      all += now - since
      longest = Math.max(longest, now - since)
    }
    return { all, longest }
  }

  /** Keys waiting for their delay. */
  get waiting (): number { return this.#waiting.size }
  isWaiting (key: string): boolean { return this.#waiting.has(key) }

  add (key: string): void {
    if (this.#closing.signal.aborted) return
    if (this.#inFlight.has(key)) {
      if (!this.#requeue.has(key)) this.#observer?.added()
      this.#requeue.add(key)
      return
    }
    if (!this.#ready.has(key)) {
      this.#observer?.added()
      this.#ready.set(key, this.#clock.elapsed())
    }
    this.#schedule()
  }

  /** Adds a key after a delay, or earlier if already scheduled earlier. */
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

  /** Resets the delays of a key. */
  forget (key: string): void {
    this.#waits.delete(key)
    this.#failures.delete(key)
  }

  /** Starts no new work. Resolves when no keys are in flight. */
  async close (): Promise<void> {
    this.#closing.abort()
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
    this.#ready.clear()
    this.#requeue.clear()
    if (this.#inFlight.size > 0) await new Promise<void>(resolve => { this.#idle = resolve })
  }

  /** Starts workers in a later event loop turn, so that they do not interrupt a caller that adds many keys. */
  #schedule (): void {
    if (this.#scheduled || this.#inFlight.size >= this.#options.workers) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#ready.size > 0 && this.#inFlight.size < this.#options.workers) void this.#worker()
    })
  }

  /** Processes keys until none are queued. */
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
      if (this.#requeue.delete(key)) this.#ready.set(key, ended)
      if (turnIsOver()) {
        // Steps without I/O must not block the event loop.
        await nextTurn()
      }
      if (this.#inFlight.size >= this.#options.workers) break
    }
    if (this.#ready.size > 0) this.#schedule()
    if (this.#inFlight.size === 0) this.#idle?.()
  }

  async #step (key: string): Promise<void> {
    const { work, failed, backoff = { first: 50, max: 5000 }, retry = { first: 1000, max: 1000 } } = this.#options
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
      return this.addAfter(key, this.#wait(key, this.#waits, backoff))
    }
    this.#waits.delete(key)
    if (verdict === 'again') this.add(key)
  }

  #wait (key: string, times: Map<string, number>, { first, max }: Backoff): number {
    const before = times.get(key) ?? 0
    times.set(key, before + 1)
    return Math.max(Math.min(first * 2 ** before, max), this.#reserve())
  }

  /** Milliseconds until the rate limit allows another return. */
  #reserve (): number {
    const { rate } = this.#options
    if (rate === undefined) return 0
    const now = this.#clock.elapsed()
    this.#tokens = Math.min(rate.burst, this.#tokens + (now - this.#tokensAt) / 1000 * rate.perSecond) - 1
    this.#tokensAt = now
    return Math.max(0, -this.#tokens / rate.perSecond * 1000)
  }
}
