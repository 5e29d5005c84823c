/** The bytes of a list whose length is known: head, items and tail, copied into chunks. */
import type { Entry } from '../storage/cache/entry.js'
import { STORED, type Items } from '../storage/cache/leaf-bytes.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { CHUNK_BYTES, makeChunk } from './chunks.js'
import type { Ends, Joined } from './formats/format.js'

/** Collecting this many entries, which may not be in the CPU cache, takes a millisecond or two. */
const MANY = 16_384
/** Visiting an entry takes as long as making a form of so many bytes. */
const VISIT_BYTES = 64
/** Making forms of so many bytes takes far longer than reading the clock. */
const STEP_BYTES = 64 * 1024
/** The bytes of smaller leaves are copied: pieces cost a TLS record and a system call each. */
const SHARED_BYTES = 32 * 1024
/** Bodies held from measuring a list until it is written, so that those which no entry keeps are made once. */
const HELD_BYTES = 8 * 1024 * 1024

/** The items of entries that form a whole leaf of the cache. */
export interface Leaf { readonly at: number, readonly count: number, readonly bytes: Buffer }

/** What is known of the items of a list before it is written. */
export interface Measured {
  /** Of the items, with all separators. */
  readonly bytes: number
  /** Bodies of the first items that are no part of a leaf, by index. Taken as they are written. */
  readonly bodies: Array<Buffer | undefined>
}

/** Yields to the event loop. */
export async function measure (
  entries: readonly Entry[], { body, size }: Items = STORED, ready: readonly Leaf[] = []
): Promise<Measured> {
  const bodies: Array<Buffer | undefined> = []
  let held = 0
  if (entries.length > MANY) await nextTurn()
  let bytes = 0
  let next = 0
  let step = 0
  for (let at = 0; at < entries.length;) {
    const leaf = ready[next]
    if (leaf?.at === at) {
      bytes += leaf.bytes.length
      at += leaf.count
      next++
      continue
    }
    const stored = entries[at] as Entry // before the end
    const content = body(stored)
    if (content !== stored.json && (held += content.length) <= HELD_BYTES) bodies[at] = content
    at++
    bytes += size(content)
    step += VISIT_BYTES + stored.json.length
    if (step < STEP_BYTES) continue
    step = 0
    if (turnIsOver()) await nextTurn()
  }
  return { bytes, bodies }
}

export class ListBytes {
  /** Total bytes. */
  readonly length: number
  readonly #items: Items
  readonly #entries: readonly Entry[]
  readonly #bodies: Measured['bodies']
  readonly #ends: Ends
  readonly #ready: readonly Leaf[]

  /** @param measured the result of `measure`. @param ready in order */
  constructor (
    { items, ends }: Joined, entries: readonly Entry[], { bytes, bodies }: Measured, ready: readonly Leaf[] = []
  ) {
    this.#items = items
    this.#entries = entries
    this.#bodies = bodies
    this.#ready = ready
    const used = entries.length > 0 ? bytes - items.separator : 0
    this.#ends = ends(used)
    this.length = this.#ends.head.length + used + this.#ends.tail.length
  }

  /** All of it, for a short list. */
  whole (): Buffer {
    const [whole] = this.#written(() => Buffer.allocUnsafe(this.length), Infinity)
    return whole as Buffer // it has room for all
  }

  /** @throws Error if a body has another length than before, which would disorder the connection */
  * pieces (make = makeChunk): Generator<Buffer> {
    let left = this.length
    for (const piece of this.#written(make, SHARED_BYTES)) {
      if ((left -= piece.length) < 0) break
      yield piece
    }
    if (left !== 0) throw new Error('an item of a list has another length than before')
  }

  /** @param shared leaves of as many bytes are pieces of their own */
  * #written (make: () => Buffer, shared: number): Generator<Buffer> {
    const { separator, body, size, write } = this.#items
    const entries = this.#entries
    const bodies = this.#bodies
    const { head, tail } = this.#ends
    const ready = this.#ready.values()
    let leaf = ready.next().value
    let chunk = make()
    let used = head.copy(chunk)
    for (let at = 0; at < entries.length;) {
      const joined = leaf?.at === at ? leaf : undefined
      const isLeaf = joined !== undefined
      const held = bodies[at]
      if (held !== undefined) bodies[at] = undefined
      const part = joined?.bytes ?? held ?? body(entries[at] as Entry) // before the end
      const bytes = isLeaf ? part.length : size(part)
      at += joined?.count ?? 1
      if (isLeaf) leaf = ready.next().value
      const cut = at < entries.length ? 0 : separator
      const isApart = bytes > chunk.length || (isLeaf && bytes >= shared)
      if (used > 0 && (isApart || used + bytes > chunk.length)) {
        yield chunk.subarray(0, used)
        chunk = make()
        used = 0
      }
      if (isApart) {
        let whole = part
        if (!isLeaf) write(whole = Buffer.allocUnsafe(bytes), 0, part)
        for (let from = 0; from < bytes - cut; from += CHUNK_BYTES) {
          yield whole.subarray(from, Math.min(from + CHUNK_BYTES, bytes - cut))
        }
      } else if (isLeaf) {
        chunk.set(part, used)
        used += bytes - cut
      } else used = write(chunk, used, part) - cut
    }
    if (used + tail.length > chunk.length) {
      yield chunk.subarray(0, used)
      chunk = make()
      used = 0
    }
    used += tail.copy(chunk, used)
    yield chunk.subarray(0, used)
  }
}
