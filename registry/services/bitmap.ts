/** A bit per slot, scanned a byte at a time. */
export class Bitmap {
  readonly size: number
  readonly #bytes: Uint8Array
  #count = 0

  constructor (size: number) {
    this.size = size
    this.#bytes = new Uint8Array(Math.ceil(size / 8))
  }

  /** Number of taken slots. */
  get count (): number { return this.#count }

  copy (): Bitmap {
    const copy = new Bitmap(this.size)
    copy.#bytes.set(this.#bytes)
    copy.#count = this.#count
    return copy
  }

  has (slot: number): boolean { return ((this.#bytes[slot >> 3] ?? 0) & 1 << (slot & 7)) !== 0 }

  add (slot: number): void {
    if (this.has(slot)) return
    this.#bytes[slot >> 3] = (this.#bytes[slot >> 3] ?? 0) | 1 << (slot & 7)
    this.#count++
  }

  delete (slot: number): void {
    if (!this.has(slot)) return
    this.#bytes[slot >> 3] = (this.#bytes[slot >> 3] ?? 0) & ~(1 << (slot & 7))
    this.#count--
  }

  /** The first free slot from `start` on, wrapping around to `from`; undefined if all of those are taken. */
  free (start: number, from = 0): number | undefined {
    if (this.#count >= this.size) return undefined
    for (let seen = 0, slot = start; seen <= this.size - from + 8;) {
      if ((slot & 7) === 0 && this.#bytes[slot >> 3] === 0xff) {
        seen += 8
        slot += 8
      } else if (slot < this.size && !this.has(slot)) return slot
      else {
        seen++
        slot++
      }
      if (slot >= this.size) slot = from
    }
    return undefined
  }
}
