/**
 * The JSON of a list: head, items and tail, copied into chunks. Each item's stored bytes end in a newline, which a
 * comma replaces.
 */
import type { Entry } from '../storage/cache/entry.js'
import { nextTurn } from '../event-loop/turns.js'
import { makeChunk } from './chunks.js'

const COMMA = 0x2c
/** Visiting this many entries, which may not be in the CPU cache, takes a millisecond or two. */
const MAX_SUMMED_PER_TURN = 16_384

/** The JSON of entries that form a whole leaf of the cache, each followed by a comma. */
export interface LeafJson { readonly at: number, readonly count: number, readonly bytes: Buffer }

/** Total JSON bytes, with one separator per entry. Yields to the event loop. */
export async function sizeOf (entries: readonly Entry[], ready: readonly LeafJson[] = []): Promise<number> {
  let bytes = 0
  let next = 0
  let seen = 0
  for (let at = 0; at < entries.length;) {
    // Yield before the first entry as well: collecting them took long.
    if (seen++ % MAX_SUMMED_PER_TURN === 0 && entries.length > MAX_SUMMED_PER_TURN) await nextTurn()
    const leaf = ready[next]
    if (leaf?.at === at) {
      bytes += leaf.bytes.length
      at += leaf.count
      next++
    } else {
      bytes += entries[at++]?.json.length ?? 0
    }
  }
  return bytes
}

export interface Ends { readonly head: string, readonly tail: string }

export class ListBytes {
  /** Total bytes. */
  readonly length: number
  readonly #entries: readonly Entry[]
  readonly #head: Buffer
  readonly #tail: Buffer
  /** -1 in the head; then the index of the next, possibly partly copied item. */
  #at = -1
  /** Bytes copied of the head, the item or the tail. */
  #done = 0

  readonly #ready: readonly LeafJson[]
  /** Index of the next leaf in `#ready`. */
  #nextLeaf = 0

  /** `size` is the result of `sizeOf`; `ready` is in order. */
  constructor ({ head, tail }: Ends, entries: readonly Entry[], size: number, ready: readonly LeafJson[] = []) {
    this.#ready = ready
    this.#head = Buffer.from(head)
    this.#tail = Buffer.from(tail)
    this.#entries = entries
    this.length = this.#head.length + size - (entries.length > 0 ? 1 : 0) + this.#tail.length
  }

  /** All of it, for a short list. */
  whole (): Buffer {
    const whole = Buffer.allocUnsafe(this.length)
    for (let used = 0; used < whole.length;) {
      const ready = this.next()
      used += ready === undefined ? this.fill(whole.subarray(used)) : ready.copy(whole, used)
    }
    return whole
  }

  * pieces (): Generator<Uint8Array> {
    for (let remaining = this.length; remaining > 0;) {
      const piece = this.next() ?? this.#filled()
      remaining -= piece.length
      yield piece
    }
  }

  #filled (): Buffer {
    const chunk = makeChunk()
    return chunk.subarray(0, this.fill(chunk))
  }

  /** Returns the bytes of the leaf at the current position, if any. Shared: send them unchanged. */
  next (): Buffer | undefined {
    const leaf = this.#ready[this.#nextLeaf]
    if (leaf === undefined || leaf.at !== this.#at || this.#done > 0) return undefined
    this.#nextLeaf++
    this.#at += leaf.count
    return this.#at === this.#entries.length ? leaf.bytes.subarray(0, -1) : leaf.bytes
  }

  /** Fills the chunk; returns the bytes used. Fewer than the chunk only at the end and before the bytes of a leaf. */
  fill (chunk: Buffer): number {
    const entries = this.#entries
    const stop = this.#ready[this.#nextLeaf]?.at ?? entries.length
    const last = entries.length - 1
    let used = 0
    if (this.#at === -1) {
      used = this.#copyPart(chunk, used, this.#head, this.#head.length)
      if (this.#at === -1) return used
    }
    while (this.#at < stop) {
      if (this.#done === 0) used = this.#copyWholeItems(chunk, used, stop)
      const at = this.#at
      if (at === stop) break
      const { json } = entries[at] as Entry // `at` is a valid index
      used = this.#copyPart(chunk, used, json, at === last ? json.length - 1 : json.length)
      if (this.#at === at) return used
      if (at !== last) chunk[used - 1] = COMMA
    }
    return this.#at < entries.length ? used : this.#copyPart(chunk, used, this.#tail, this.#tail.length)
  }

  /** Copies all items that fit completely. Uses local variables because per-item cost dominates lists. */
  #copyWholeItems (chunk: Buffer, from: number, stop: number): number {
    const entries = this.#entries
    const capacity = chunk.length
    let at = this.#at
    let used = from
    while (at < stop) {
      const { json } = entries[at] as Entry // before the end
      const after = used + json.length
      if (after > capacity) break
      chunk.set(json, used)
      chunk[after - 1] = COMMA
      used = after
      at++
    }
    this.#at = at
    return at === entries.length && at > 0 && used > from ? used - 1 : used
  }

  /** Copies up to `length` bytes as far as they fit, and advances to the next part after the last one. */
  #copyPart (chunk: Buffer, used: number, bytes: Buffer, length: number): number {
    const end = Math.min(length, this.#done + chunk.length - used)
    chunk.set(bytes.subarray(this.#done, end), used)
    const after = used + end - this.#done
    this.#done = end
    // The tail is the last part.
    if (end === length && bytes !== this.#tail) {
      this.#at++
      this.#done = 0
    }
    return after
  }
}
