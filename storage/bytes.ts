/**
 * Memory for bytes: what lives long has its own, never out of Node's shared pool, whose slabs hold short-lived bytes beside it; what
 * comes and goes together shares slabs, as memory of its own for each would cost more than writing it.
 */

const NEWLINE = 0x0a
const NEWLINE_LENGTH = 1

/** The text and a newline in memory of its own. */
export function ownBytes (text: string): Buffer {
  const length = Buffer.byteLength(text)
  return ended(Buffer.allocUnsafeSlow(length + NEWLINE_LENGTH), text, length)
}

function ended (bytes: Buffer, text: string, length: number): Buffer {
  bytes.write(text, 0, length)
  bytes[length] = NEWLINE
  return bytes
}

/** A slab is freed when the last of its pieces is: small enough that a few that stay do not hold much. */
const SLAB_BYTES = 64 * 1024
const LARGE_BYTES = SLAB_BYTES / 8

/** For pieces that come together and mostly go together. */
export class Slab {
  #slab = Buffer.alloc(0)
  #used = 0

  /** Memory with whatever was in it before. */
  take (size: number): Buffer {
    if (size > LARGE_BYTES) return Buffer.allocUnsafeSlow(size)
    if (this.#used + size > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#used = 0
    }
    this.#used += size
    return this.#slab.subarray(this.#used - size, this.#used)
  }

  copy (bytes: Uint8Array): Buffer {
    const copy = this.take(bytes.length)
    copy.set(bytes)
    return copy
  }

  /** The text and a newline. */
  hold (text: string): Buffer {
    const length = Buffer.byteLength(text)
    return ended(this.take(length + NEWLINE_LENGTH), text, length)
  }
}
