/**
 * The JSON of a list: a head, the stored bytes of its items with commas between, a tail, copied into the pieces it
 * is sent in. The stored bytes of an item end in a newline; the comma takes its place.
 */
import type { Entry } from '../storage/cache/entry.js'
import { nextTurn } from '../storage/turns.js'

const COMMA = 0x2c
/** Looking at so many entries, which may have to be fetched from memory each, takes a millisecond or two. */
const SUMMED_PER_TURN = 16_384

/** Bytes of the JSON of all, each with its newline. Others have their turns meanwhile. */
export async function bytesOf (entries: readonly Entry[]): Promise<number> {
  let bytes = 0
  for (let at = 0; at < entries.length; at++) {
    // Also before the first: collecting many has taken its time.
    if (at % SUMMED_PER_TURN === 0 && entries.length > SUMMED_PER_TURN) await nextTurn()
    bytes += entries[at]?.json.length ?? 0
  }
  return bytes
}

export class Joined {
  /** Bytes in all. */
  readonly length: number
  readonly #entries: readonly Entry[]
  readonly #head: Buffer
  readonly #tail: Buffer
  /** -1 in the head; then the item that is next, or partly copied. */
  #at = -1
  /** Bytes copied of the head, the item or the tail. */
  #done = 0

  /** `size`: of the entries, as `bytesOf` says. */
  constructor (head: string, entries: readonly Entry[], size: number, tail: string) {
    this.#head = Buffer.from(head)
    this.#tail = Buffer.from(tail)
    this.#entries = entries
    this.length = this.#head.length + size - (entries.length > 0 ? 1 : 0) + this.#tail.length
  }

  /** Fills the piece with what comes next; how many bytes. Less than the piece has only at the end. */
  fill (piece: Buffer): number {
    const entries = this.#entries
    const last = entries.length - 1
    let used = 0
    if (this.#at === -1) {
      used = this.#part(piece, used, this.#head, this.#head.length)
      if (this.#at === -1) return used
    }
    while (this.#at <= last) {
      if (this.#done === 0) used = this.#whole(piece, used)
      const at = this.#at
      if (at > last) break
      const { json } = entries[at] as Entry // `at` is within
      used = this.#part(piece, used, json, at === last ? json.length - 1 : json.length)
      if (this.#at === at) return used
      if (at !== last) piece[used - 1] = COMMA
    }
    return this.#part(piece, used, this.#tail, this.#tail.length)
  }

  /** Copies the items that fit as a whole; where they end. In variables of its own: what is done per item shows in the cost of a list. */
  #whole (piece: Buffer, from: number): number {
    const entries = this.#entries
    const room = piece.length
    let at = this.#at
    let used = from
    while (at < entries.length) {
      const { json } = entries[at] as Entry
      const after = used + json.length
      if (after > room) break
      piece.set(json, used)
      piece[after - 1] = COMMA
      used = after
      at++
    }
    this.#at = at
    return at === entries.length && at > 0 && used > from ? used - 1 : used
  }

  /** Copies as much of the first `length` of `bytes` as there is room for, and goes on to the next when that was all. */
  #part (piece: Buffer, used: number, bytes: Buffer, length: number): number {
    const end = Math.min(length, this.#done + piece.length - used)
    piece.set(bytes.subarray(this.#done, end), used)
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
