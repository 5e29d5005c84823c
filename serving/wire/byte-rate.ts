/** A token bucket of bytes that holds one second's worth. */

export class ByteRate {
  readonly perSecond: number
  readonly #now: () => number
  #left: number
  #at: number

  /** @param now monotonic clock, milliseconds */
  constructor (perSecond: number, now = performance.now.bind(performance)) {
    this.perSecond = perSecond
    this.#now = now
    this.#left = perSecond
    this.#at = now()
  }

  /** @returns the size of the next piece and the milliseconds to wait for it; if 0, the piece is deducted */
  take (bytes: number): { readonly piece: number, readonly wait: number } {
    const now = this.#now()
    this.#left = Math.min(this.perSecond, this.#left + (now - this.#at) / 1000 * this.perSecond)
    this.#at = now
    const piece = Math.min(bytes, this.perSecond)
    // Rounded up: timers count whole milliseconds.
    const wait = Math.ceil((piece - this.#left) / this.perSecond * 1000)
    if (wait > 0) return { piece, wait }
    this.#left -= piece
    return { piece, wait: 0 }
  }
}
