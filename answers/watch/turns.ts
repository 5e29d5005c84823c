/**
 * Shared by all open watches of a server: one coarse clock instead of a timer each, but for those whose time is near,
 * one shutdown listener, and one queue that spreads their writes over event loop turns.
 */
import { systemClock, type Clock } from '../../event-loop/clock.js'
import { TURN_MS } from '../../event-loop/turns.js'

/** The clock's resolution. Watches whose time comes within two ticks get timers of their own. */
const TICK_MS = 500
/** Milliseconds between the watches that end together when they end evenly. */
const STEP_MS = 50
/** Slots of the timer wheel; a later watch is checked once per round. */
const SLOTS = 128
/** Also ends a turn, because HTTP/2 encrypts and sends the bytes after it. */
const TURN_BYTES = 4 * 1024 * 1024
/** Pumps between two checks of the clock; each takes some ten microseconds. */
const PUMPS_PER_CHECK = 16

export interface OpenWatch {
  /** Milliseconds on the clock of the next call to `tick`; set by the clock. */
  due: number
  /** Whether it is queued; set by the queue. */
  queued: boolean
  /** Writes pending events, at most one turn's share. */
  pump: () => void
  /** Its time has come; must not end the watch in this call. @returns milliseconds until the next tick */
  tick: () => number
  /** The server shuts down: the rest is written in the next turns. */
  finish: () => void
}

export class OpenWatches {
  readonly #clock: Clock
  readonly #grace: () => number
  readonly #after: Clock['after']
  readonly #wheel = Array.from({ length: SLOTS }, () => new Set<OpenWatch>())
  /** Watches with timers, and what cancels these. */
  readonly #soon = new Map<OpenWatch, () => void>()
  #queue: OpenWatch[] = []
  #scheduled = false
  /** When this turn's time is used up. */
  #turnEndsAt = 0
  /** Pumps until the next check of the clock. */
  #untilCheck = 0
  /** Bytes written in this turn. */
  #bytes = 0
  #count = 0
  #tick = 0
  #stop: (() => void) | undefined

  /**
   * @param grace milliseconds over which `finish` ends the watches evenly
   * @param after of the system's clock, since a held one would hold the shutdown; for tests
   */
  constructor (clock = systemClock, grace = () => 0, after: Clock['after'] = systemClock.after.bind(systemClock)) {
    this.#clock = clock
    this.#grace = grace
    this.#after = after
  }

  /** Milliseconds on the clock of the ticks. */
  now (): number { return this.#clock.elapsed() }

  /** Number of open watches. */
  get size (): number { return this.#count }

  /** @param milliseconds until the first tick */
  add (watch: OpenWatch, milliseconds: number): void {
    if (this.#count++ === 0) {
      this.#tick = this.#currentTick()
      this.#repeat()
    }
    this.#place(watch, milliseconds)
  }

  remove (watch: OpenWatch): void {
    const cancel = this.#soon.get(watch)
    cancel?.()
    if (!this.#soon.delete(watch) && !this.#bucketOf(watch).delete(watch)) return
    if (--this.#count === 0) this.#stop?.()
  }

  /**
   * Schedules a watch with pending events: calls its `pump` at once if this turn has time and the queue is empty, else
   * in order. Under load each write carries more events.
   */
  wake (watch: OpenWatch): void {
    if (watch.queued) return
    this.#schedule()
    if (this.#queue.length > 0 || this.#isTurnOver()) this.later(watch)
    else watch.pump()
  }

  /** As `wake`, but always through the queue: for watches that are in their `pump`. */
  later (watch: OpenWatch): void {
    if (watch.queued) return
    watch.queued = true
    this.#queue.push(watch)
    this.#schedule()
  }

  /** Accounts for the bytes of a pump. */
  wrote (bytes: number): void { this.#bytes += bytes }

  /**
   * Ends all watches, some in each step if there is time, so that their clients do not all come to the next server at
   * once. Without, those that fit in one turn have ended when it returns.
   */
  readonly finish = (): void => {
    const all = [...this.#wheel.flatMap(slot => [...slot]), ...this.#soon.keys()]
    const share = Math.ceil(all.length / Math.max(1, Math.floor(this.#grace() / STEP_MS)))
    const endSome = (): void => {
      for (const watch of all.splice(0, share)) {
        watch.finish()
        this.wake(watch)
      }
      if (all.length > 0) this.#after(STEP_MS, endSome)
    }
    endSome()
  }

  #schedule (): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#turnEndsAt = performance.now() + TURN_MS
    this.#untilCheck = PUMPS_PER_CHECK
    this.#bytes = 0
    setImmediate(this.#run)
  }

  /** The last write took long: check the clock before the next watch. */
  tookLong (): void { this.#untilCheck = 0 }

  /** True if this turn's time or bytes are used up. */
  #isTurnOver (): boolean {
    if (--this.#untilCheck <= 0 || this.#bytes >= TURN_BYTES) {
      if (performance.now() > this.#turnEndsAt || this.#bytes >= TURN_BYTES) return true
      this.#untilCheck = PUMPS_PER_CHECK
    }
    return false
  }

  readonly #run = (): void => {
    this.#scheduled = false
    const queue = this.#queue
    if (queue.length === 0) return
    // Watches queued meanwhile run after all others.
    this.#queue = []
    this.#schedule()
    let at = 0
    while (at < queue.length && !this.#isTurnOver()) {
      const watch = queue[at++] as OpenWatch // below the length
      watch.queued = false
      watch.pump()
    }
    if (at < queue.length) this.#queue = [...queue.slice(at), ...this.#queue]
  }

  #repeat (): void {
    this.#stop = this.#clock.after(TICK_MS, () => {
      this.#repeat()
      this.#advance()
    })
  }

  #currentTick (): number { return Math.floor(this.#clock.elapsed() / TICK_MS) }

  // a remainder is a valid index
  #bucketAt (tick: number): Set<OpenWatch> { return this.#wheel[tick % SLOTS] as Set<OpenWatch> }
  #bucketOf ({ due }: OpenWatch): Set<OpenWatch> { return this.#bucketAt(lastTickBefore(due)) }

  #place (watch: OpenWatch, milliseconds: number): void {
    watch.due = this.#clock.elapsed() + Math.max(0, milliseconds)
    if (lastTickBefore(watch.due) > this.#tick) this.#bucketOf(watch).add(watch)
    else this.#setTimer(watch)
  }

  #setTimer (watch: OpenWatch): void {
    this.#soon.set(watch, this.#clock.after(watch.due - this.#clock.elapsed(), () => {
      this.#soon.delete(watch)
      this.#fire(watch)
    }))
  }

  #fire (watch: OpenWatch): void {
    const next = watch.tick()
    this.#place(watch, next > 0 ? next : TICK_MS) // it ends in a later turn
  }

  /** Catches up after a blocked event loop or a suspended process. */
  #advance (): void {
    const reached = this.#currentTick()
    // At most one round, which covers every slot.
    let tick = Math.max(this.#tick + 1, reached - SLOTS + 1)
    this.#tick = reached
    for (; tick <= reached; tick++) {
      for (const watch of [...this.#bucketAt(tick)]) {
        if (lastTickBefore(watch.due) > tick || !this.#bucketAt(tick).delete(watch)) continue
        if (watch.due <= this.#clock.elapsed()) this.#fire(watch)
        else this.#setTimer(watch)
      }
    }
  }
}

/** The tick before the last one that begins by that time, as a tick may be noticed one tick late. */
const lastTickBefore = (due: number): number => Math.floor(due / TICK_MS) - 1

const watchesByServer = new WeakMap<AbortSignal, OpenWatches>()

/** The open watches of the server that shuts down with `closing`; the first caller may set clock and grace. */
export function openWatches (closing: AbortSignal, clock = systemClock, grace = () => 0): OpenWatches {
  let watches = watchesByServer.get(closing)
  if (watches === undefined) {
    watchesByServer.set(closing, watches = new OpenWatches(clock, grace))
    closing.addEventListener('abort', watches.finish, { once: true })
  }
  return watches
}
