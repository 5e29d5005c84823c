/**
 * The JSON of a list: a head, the stored bytes of its items with commas between, a tail, copied into the chunks it
 * is sent in. The stored bytes of an item end in a newline; the comma takes its place.
 */
import type { Entry } from '../storage/cache/entry.js'
import { nextTurn } from '../storage/turns.js'

const COMMA = 0x2c
/** Looking at so many entries, which may have to be fetched from memory each, takes a millisecond or two. */
const SUMMED_PER_TURN = 16_384

/** Some of the entries of a list, joined already: each with a comma behind it. */
export interface Ready { readonly at: number, readonly count: number, readonly bytes: Buffer }

/** Bytes of the JSON of all, each with its newline. Others have their turns meanwhile. */
export async function bytesOf (entries: readonly Entry[], ready: readonly Ready[] = []): Promise<number> {
  let bytes = 0
  let run = 0
  let seen = 0
  for (let at = 0; at < entries.length;) {
    // Also before the first: collecting many has taken its time.
    if (seen++ % SUMMED_PER_TURN === 0 && entries.length > SUMMED_PER_TURN) await nextTurn()
    const joined = ready[run]
    if (joined?.at === at) {
      bytes += joined.bytes.length
      at += joined.count
      run++
    } else {
      bytes += entries[at++]?.json.length ?? 0
    }
  }
  return bytes
}

export class ListBytes {
  /** Bytes in all. */
  readonly length: number
  readonly #entries: readonly Entry[]
  readonly #head: Buffer
  readonly #tail: Buffer
  /** -1 in the head; then the item that is next, or partly copied. */
  #at = -1
  /** Bytes copied of the head, the item or the tail. */
  #done = 0

  readonly #ready: readonly Ready[]
  /** Index of the joined entries that are next. */
  #run = 0

  /** `size`: of the entries, as `bytesOf` says. `ready`: in order. */
  constructor (head: string, entries: readonly Entry[], size: number, tail: string, ready: readonly Ready[] = []) {
    this.#ready = ready
    this.#head = Buffer.from(head)
    this.#tail = Buffer.from(tail)
    this.#entries = entries
    this.length = this.#head.length + size - (entries.length > 0 ? 1 : 0) + this.#tail.length
  }

  /** What comes next, where it is joined already: shared bytes, to be sent as they are. */
  next (): Buffer | undefined {
    const run = this.#ready[this.#run]
    if (run === undefined || run.at !== this.#at || this.#done > 0) return undefined
    this.#run++
    this.#at += run.count
    return this.#at === this.#entries.length ? run.bytes.subarray(0, -1) : run.bytes
  }

  /** Fills the chunk with what comes next; how many bytes. Less than the chunk has only at the end and before what is joined already. */
  fill (chunk: Buffer): number {
    const entries = this.#entries
    const stop = this.#ready[this.#run]?.at ?? entries.length
    const last = entries.length - 1
    let used = 0
    if (this.#at === -1) {
      used = this.#part(chunk, used, this.#head, this.#head.length)
      if (this.#at === -1) return used
    }
    while (this.#at < stop) {
      if (this.#done === 0) used = this.#whole(chunk, used, stop)
      const at = this.#at
      if (at === stop) break
      const { json } = entries[at] as Entry // `at` is within
      used = this.#part(chunk, used, json, at === last ? json.length - 1 : json.length)
      if (this.#at === at) return used
      if (at !== last) chunk[used - 1] = COMMA
    }
    return this.#at < entries.length ? used : this.#part(chunk, used, this.#tail, this.#tail.length)
  }

  /** Copies the items that fit as a whole; where they end. In variables of its own: what is done per item shows in the cost of a list. */
  #whole (chunk: Buffer, from: number, stop: number): number {
    const entries = this.#entries
    const room = chunk.length
    let at = this.#at
    let used = from
    while (at < stop) {
      const { json } = entries[at] as Entry // before the end
      const after = used + json.length
      if (after > room) break
      chunk.set(json, used)
      chunk[after - 1] = COMMA
      used = after
      at++
    }
    this.#at = at
    return at === entries.length && at > 0 && used > from ? used - 1 : used
  }

  /** Copies as much of the first `length` of `bytes` as there is room for, and goes on to the next when that was all. */
  #part (chunk: Buffer, used: number, bytes: Buffer, length: number): number {
    const end = Math.min(length, this.#done + chunk.length - used)
    chunk.set(bytes.subarray(this.#done, end), used)
    const after = used + end - this.#done
    this.#done = end
    // The tail has nothing after it: it stays, done.
    if (end === length && bytes !== this.#tail) {
      this.#at++
      this.#done = 0
    }
    return after
  }
}
