/**
 * What the open watches of one server share: one coarse clock instead of timers of each, one listener for
 * the server's end, and one queue that spreads their writes over turns of the loop, however many wake at once.
 */
import { TURN_MS } from '../storage/turns.js'

/** Milliseconds of a tick: how late a watch's time may be noticed. */
const TICK_MS = 500
/** Slots of the clock; a watch further ahead than all of them is looked at once a round. */
const SLOTS = 128
/** A turn that has written so much is over too: over HTTP/2 it is encrypted and sent when the turn is over. */
const TURN_BYTES = 4 * 1024 * 1024
/** Between two checks of the clock: one is some ten microseconds. */
const PUMPS_PER_CHECK = 16

export interface OpenWatch {
  /** Tick at which it is told the time; kept by the clock. */
  due: number
  /** In the queue already; kept by the queue. */
  queued: boolean
  /** Writes what there is, as much as one turn may. */
  pump: () => void
  /** Its time has come; it does not end in this call. @returns milliseconds until its time comes again */
  tick: () => number
  /** The server is closing: what is left is written in the next turns. */
  finish: () => void
}

/** The passing of time, which a test may hold. */
export interface Time {
  /** Milliseconds; never goes back. */
  readonly now: () => number
  /** @returns what ends it */
  readonly every: (milliseconds: number, then: () => void) => () => void
}

const systemTime: Time = {
  now: () => performance.now(),
  every (milliseconds, then) {
    const timer = setInterval(then, milliseconds).unref()
    return () => { clearInterval(timer) }
  }
}

export class OpenWatches {
  readonly #time: Time
  readonly #wheel = Array.from({ length: SLOTS }, () => new Set<OpenWatch>())
  #queue: OpenWatch[] = []
  #scheduled = false
  /** When this turn has had its time. */
  #until = 0
  /** Pumps until the next look at the clock. */
  #untilCheck = 0
  /** Written in this turn. */
  #bytes = 0
  #count = 0
  #tick = 0
  #stop: (() => void) | undefined

  constructor (time = systemTime) { this.#time = time }

  /** Milliseconds by the clock of their ticks. */
  now (): number { return this.#time.now() }

  /** Watches that are open. */
  get size (): number { return this.#count }

  /** @param milliseconds until its first tick */
  add (watch: OpenWatch, milliseconds: number): void {
    if (this.#count++ === 0) {
      this.#tick = this.#reached()
      this.#stop = this.#time.every(TICK_MS, () => { this.#advance() })
    }
    this.#place(watch, milliseconds)
  }

  remove (watch: OpenWatch): void {
    if (!this.#bucketAt(watch.due).delete(watch)) return
    if (--this.#count === 0) this.#stop?.()
  }

  /**
   * It has something to write: its `pump` is called at once where this turn has time for it and nobody waits, else
   * when those before it have had theirs. The more there are, the more events each of their writes carries.
   */
  wake (watch: OpenWatch): void {
    if (watch.queued) return
    this.#schedule()
    if (this.#queue.length > 0 || this.#spent()) this.later(watch)
    else watch.pump()
  }

  /** As `wake`, but not in this call: for one that is at its own pump, and behind all others. */
  later (watch: OpenWatch): void {
    if (watch.queued) return
    watch.queued = true
    this.#queue.push(watch)
    this.#schedule()
  }

  /** A pump has written so many bytes. */
  wrote (bytes: number): void { this.#bytes += bytes }

  /** Ends them all. Those that one turn has time for have ended when it returns. */
  readonly finish = (): void => {
    for (const slot of this.#wheel) {
      for (const watch of slot) {
        watch.finish()
        this.wake(watch)
      }
    }
  }

  #schedule (): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#until = performance.now() + TURN_MS
    this.#untilCheck = PUMPS_PER_CHECK
    this.#bytes = 0
    setImmediate(this.#run)
  }

  /** The last write took long: check the time budget before the next watch is served. */
  tookLong (): void { this.#untilCheck = 0 }

  /** True when this turn has had its time. */
  #spent (): boolean {
    if (--this.#untilCheck <= 0 || this.#bytes >= TURN_BYTES) {
      if (performance.now() > this.#until || this.#bytes >= TURN_BYTES) return true
      this.#untilCheck = PUMPS_PER_CHECK
    }
    return false
  }

  readonly #run = (): void => {
    this.#scheduled = false
    const queue = this.#queue
    if (queue.length === 0) return
    // What comes to it meanwhile has its turn after all others.
    this.#queue = []
    this.#schedule()
    let at = 0
    while (at < queue.length && !this.#spent()) {
      const watch = queue[at++] as OpenWatch // below the length
      watch.queued = false
      watch.pump()
    }
    if (at < queue.length) this.#queue = [...queue.slice(at), ...this.#queue]
  }

  #reached (): number { return Math.floor(this.#time.now() / TICK_MS) }

  #bucketAt (tick: number): Set<OpenWatch> { return this.#wheel[tick % SLOTS] as Set<OpenWatch> } // a remainder is within

  #place (watch: OpenWatch, milliseconds: number): void {
    // One more: this tick has lasted a while already, and a time is never over early.
    watch.due = this.#tick + 1 + Math.max(0, Math.ceil(milliseconds / TICK_MS))
    this.#bucketAt(watch.due).add(watch)
  }

  /** A loop that was held up, or a process that was stopped, catches up. */
  #advance (): void {
    const reached = this.#reached()
    // Never more than one round: every slot is looked at then.
    let tick = Math.max(this.#tick + 1, reached - SLOTS + 1)
    this.#tick = reached
    for (; tick <= reached; tick++) {
      for (const watch of [...this.#bucketAt(tick)]) {
        if (watch.due > tick || !this.#bucketAt(tick).delete(watch)) continue
        this.#place(watch, watch.tick())
      }
    }
  }
}

const servers = new WeakMap<AbortSignal, OpenWatches>()

/** Those of the server that ends with `closing`; whoever asks first may hold their time. */
export function openWatches (closing: AbortSignal, time = systemTime): OpenWatches {
  let found = servers.get(closing)
  if (found === undefined) {
    servers.set(closing, found = new OpenWatches(time))
    closing.addEventListener('abort', found.finish, { once: true })
  }
  return found
}
