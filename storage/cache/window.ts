/**
 * The recent events of one resource type, numbered without gaps. Watchers are cursors into it, so a slow watcher costs
 * no queue; it ends when its next event has been dropped.
 *
 * The window keeps at least `minEvents` events and grows with the rate of change, within limits of count and bytes, to
 * cover about a minute.
 */
import type { Revision } from '../backend.js'
import type { CacheEvent } from './event.js'

const MAX_EVENTS = 100_000
const MAX_BYTES = 64 * 1024 * 1024
const KEEP_FOR_MS = 75_000
/** A minimum above the flag's default of 100; the events share memory with the live objects anyway. */
const MIN_EVENTS = 2_000

/** Only this many newest events keep their encodings; watchers are rarely further behind. */
const MAX_ENCODED = 256

interface Slot { readonly event: CacheEvent, readonly at: number, readonly bytes: number }

let windows = 0

export class EventWindow {
  /** Unique in the process: equal numbers in two windows are different events. */
  readonly serial = ++windows
  /** What was dropped is undefined until the array is compacted. */
  #slots: Array<Slot | undefined> = []
  /** Number of #slots[0]. */
  #first = 0
  #bytes = 0
  /** Slots before this index are dropped; the array is compacted when they are half of it. */
  #head = 0
  /** The window has every event after this revision. */
  #since: Revision
  readonly #minEvents: number

  constructor (since: Revision, minEvents: number) {
    this.#since = since
    this.#minEvents = Math.max(minEvents, MIN_EVENTS)
  }

  /** Current capacity in events, which grows with the rate of change. */
  get capacity (): number { return Math.max(this.#minEvents, this.#slots.length - this.#head) }
  /** Number of the next event. */
  get end (): number { return this.#first + this.#slots.length }
  /** Number of the oldest event kept. */
  get begin (): number { return this.#first + this.#head }
  /** The window has every event after this revision. */
  get since (): Revision { return this.#since }

  /** @returns the event's number */
  push (event: CacheEvent, now: number): number {
    const number = this.end
    const { bytes } = event.entry
    this.#slots.push({ event, at: now, bytes })
    this.#bytes += bytes
    this.#slots.at(-MAX_ENCODED)?.event.forget()
    this.trim(now)
    return number
  }

  /** Drops expired events; called for each event, and at intervals for idle types. */
  trim (now: number): void {
    for (;;) {
      const kept = this.#slots.length - this.#head
      const oldest = this.#slots[this.#head]
      if (oldest === undefined || kept <= 1) break
      const needed = kept <= this.#minEvents || now - oldest.at < KEEP_FOR_MS
      if (needed && kept <= MAX_EVENTS && this.#bytes <= MAX_BYTES) break
      if (kept <= 64) break
      this.#bytes -= oldest.bytes
      this.#since = oldest.event.revision
      this.#slots[this.#head++] = undefined // a thousand events of large objects are a gigabyte
    }
    if (this.#head > 1024 && this.#head * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#head)
      this.#first += this.#head
      this.#head = 0
    }
  }

  at (number: number): CacheEvent | undefined {
    return number < this.begin ? undefined : this.#slots[number - this.#first]?.event
  }

  /** Number of the first event after a revision, which must not precede `since`. */
  firstAfter (revision: Revision): number {
    let low = this.#head
    let high = this.#slots.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#slots[middle] as Slot).event.revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#first + low
  }
}
