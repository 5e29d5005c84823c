/** The clock of a test server. It follows the machine's time until it is held; then only `move` advances it. */
import { MAX_TIMER_MS, type Clock } from '../event-loop/clock.js'
import { parseDuration } from '../schemas/meta/duration.js'

interface Timer { readonly at: number, readonly callback: () => void }

/** Event loop turns after each step, for its effects to take place. */
const TURNS = 5
/** Maximum steps of a move. A move has several, because the server checks some things every second. */
const STEPS = 200
/** Timestamps have years of four digits. */
const LAST_TIME = Date.parse('9999-12-31T23:59:59Z')
const NANOSECONDS_PER_MS = 1e6

/** Milliseconds, or text as flags have it: `1h30m`, `500ms`. */
export type Duration = number | string

/** @throws RangeError */
export function millisecondsOf (duration: Duration): number {
  const given = typeof duration === 'number' ? duration : Number(parseDuration(duration) ?? NaN) / NANOSECONDS_PER_MS
  if (given >= 0 && given < Infinity) return given
  throw new RangeError(`${JSON.stringify(duration)} is no duration: give milliseconds, or text such as 1h30m`)
}

export interface TestClock {
  readonly held: boolean
  /** The time of the server. */
  now: () => Date
  /** Stops the time. Nothing expires or times out until it is moved. */
  hold: () => void
  /** Lets the time run on from its current value. */
  run: () => void
  /**
   * Moves the time forward, held or not. What becomes due happens in order: objects expire, watches get bookmarks,
   * requests time out. Nothing happens early; the maximum delay is a two-hundredth of the move. Resolves when the
   * server has processed the effects; clients may see them a moment later.
   * @throws RangeError
   */
  move: (by: Duration) => Promise<void>
}

export class MovableClock implements TestClock, Clock {
  /** The wall clock's time at 0 of `elapsed`. */
  readonly #epoch: number
  /**
   * When it was held, on the scale of `elapsed`, in whole milliseconds, so that times differ by exactly what it was
   * moved; undefined while it runs.
   */
  #heldAt: number | undefined
  /** Milliseconds by which `elapsed` is ahead of the machine's clock. */
  #moved = 0
  readonly #timers = new Set<Timer>()
  #wakeUp: NodeJS.Timeout | undefined
  #closed = false
  /** Each resolves when what was due has happened, which takes longer than some turns. */
  readonly #followers: Array<() => Promise<void>> = []

  /** @param start milliseconds since 1970 */
  constructor (start: number, held: boolean) {
    const now = held ? Math.ceil(performance.now()) : performance.now()
    this.#epoch = start - now
    this.#heldAt = held ? now : undefined
  }

  get held (): boolean { return this.#heldAt !== undefined }

  now (): Date { return new Date(this.wall()) }

  readonly elapsed = (): number => this.#heldAt ?? performance.now() + this.#moved

  /** Milliseconds since 1970. */
  readonly wall = (): number => Math.round(this.#epoch + this.elapsed())

  readonly after = (milliseconds: number, callback: () => void): () => void => {
    const timer = { at: this.elapsed() + Math.max(0, milliseconds), callback }
    this.#timers.add(timer)
    this.#arm()
    return () => { this.#timers.delete(timer) }
  }

  hold (): void {
    this.#heldAt ??= Math.ceil(this.elapsed())
    this.#arm()
  }

  run (): void {
    if (this.#heldAt === undefined) return
    this.#moved = this.#heldAt - performance.now()
    this.#heldAt = undefined
    this.#arm()
  }

  async move (by: Duration): Promise<void> {
    const whole = millisecondsOf(by)
    if (this.wall() + whole > LAST_TIME) {
      throw new RangeError(`${JSON.stringify(by)} would move the clock beyond the year 9999`)
    }
    const held = this.held
    this.hold()
    await this.#settled()
    const until = this.elapsed() + whole
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#heldAt = Math.min(until, Math.max(next.at, this.elapsed() + whole / STEPS))
      this.#fireDue()
      for (let turn = 0; turn < TURNS; turn++) await new Promise(resolve => { setImmediate(resolve) })
      await this.#settled()
    }
    this.#heldAt = until
    if (!held) this.run()
  }

  async #settled (): Promise<void> { for (const settled of this.#followers) await settled() }

  /** A move waits for it first, and after each step. */
  follow (settled: () => Promise<void>): void { this.#followers.push(settled) }

  close (): void {
    this.#closed = true
    this.#timers.clear()
    clearTimeout(this.#wakeUp)
  }

  /** The first timer up to that time. */
  #next (until: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }

  /** Fires due timers in order; the timers that they set fire in the next step. */
  #fireDue (): void {
    const now = this.elapsed()
    const due = [...this.#timers].filter(({ at }) => at <= now).sort((one, other) => one.at - other.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback()
  }

  /** Waits in real time for the next timer while the clock runs. */
  #arm (): void {
    clearTimeout(this.#wakeUp)
    if (this.held || this.#closed) return
    const next = this.#next(Infinity)
    if (next === undefined) return
    this.#wakeUp = setTimeout(() => {
      this.#fireDue()
      this.#arm()
    }, Math.min(Math.max(0, Math.ceil(next.at - this.elapsed())), MAX_TIMER_MS)).unref()
  }
}
