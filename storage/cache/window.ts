/**
 * The recent events of one resource type, numbered without gaps. Watchers are cursors into it, so a slow
 * one costs a number, not a queue; when its cursor falls off the end it has missed something and is ended.
 *
 * The window keeps at least `least` events and grows with the rate of change, within bounds of count and
 * bytes, to cover about a minute.
 */
import type { Revision } from '../backend.js'
import type { CacheEvent } from './event.js'

const MOST_EVENTS = 100_000
const MOST_BYTES = 64 * 1024 * 1024
const KEEP_FOR_MS = 75_000
/** A floor above the flag's default of 100: events are kept anyway as long as their objects live. */
const FLOOR = 2_000

/** So many of the newest events keep their encodings; watchers are seldom further behind. */
const ENCODED = 256

interface Slot { readonly event: CacheEvent, readonly at: number, readonly bytes: number }

let windows = 0

export class EventWindow {
  /** Unique in the process: the same numbers of two windows are different events. */
  readonly serial = ++windows
  #slots: Slot[] = []
  /** Number of #slots[0]. */
  #first = 0
  #bytes = 0
  /** Slots before this index are dropped; the array is cut when half of it is. */
  #head = 0
  /** Everything after this revision is in the window. */
  #since: Revision
  readonly #least: number

  constructor (since: Revision, least: number) {
    this.#since = since
    this.#least = Math.max(least, FLOOR)
  }

  /** Events there is room for: it grows with what happens. */
  get capacity (): number { return Math.max(this.#least, this.#slots.length - this.#head) }
  /** Number the next event will get. */
  get end (): number { return this.#first + this.#slots.length }
  /** Number of the oldest event kept. */
  get begin (): number { return this.#first + this.#head }
  /** Events after this revision are all here. */
  get since (): Revision { return this.#since }

  /** The number it got. */
  push (event: CacheEvent, now: number): number {
    const number = this.end
    const bytes = event.entry.json.length
    this.#slots.push({ event, at: now, bytes })
    this.#bytes += bytes
    this.#slots.at(-ENCODED)?.event.forget()
    this.trim(now)
    return number
  }

  /** Lets go of what is kept no longer: with each event, and now and then where none comes any more. */
  trim (now: number): void {
    for (;;) {
      const kept = this.#slots.length - this.#head
      const oldest = this.#slots[this.#head]
      if (oldest === undefined || kept <= 1) break
      const needed = kept <= this.#least || now - oldest.at < KEEP_FOR_MS
      if (needed && kept <= MOST_EVENTS && this.#bytes <= MOST_BYTES) break
      if (kept <= 64) break
      this.#bytes -= oldest.bytes
      this.#since = oldest.event.revision
      this.#head++
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

  /** Number of the first event after a revision that is not before `since`. */
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
