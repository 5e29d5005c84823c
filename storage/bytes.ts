/** Memory for the bytes of entries, which live long: never out of Node's shared pool, whose slabs hold short-lived bytes beside them. */

const NEWLINE = 0x0a
const NEWLINE_LENGTH = 1

/** The text and a newline in memory of its own. */
export function ownBytes (text: string): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafeSlow(length + NEWLINE_LENGTH)
  bytes.write(text, 0, length)
  bytes[length] = NEWLINE
  return bytes
}

/** A slab is freed when the last of its texts is: small enough that a few that stay do not hold much. */
const SLAB_BYTES = 64 * 1024
const LARGE_BYTES = SLAB_BYTES / 8

/** Texts that come together and mostly stay together share slabs of memory: one for each would cost more time and space than most texts. */
export class Slab {
  #slab = Buffer.alloc(0)
  #used = 0

  hold (text: string): Buffer {
    const length = Buffer.byteLength(text)
    if (length > LARGE_BYTES) return ownBytes(text)
    const end = length + NEWLINE_LENGTH
    if (this.#used + end > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#used = 0
    }
    const start = this.#used
    this.#used += end
    this.#slab.write(text, start, length)
    this.#slab[start + length] = NEWLINE
    return this.#slab.subarray(start, start + end)
  }
}
