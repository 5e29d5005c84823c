/** How fast bytes may go: so many a second, with a second's worth at once. */

export class ByteRate {
  readonly perSecond: number
  readonly #now: () => number
  #left: number
  #at: number

  /** @param now milliseconds on a clock that never goes back */
  constructor (perSecond: number, now = performance.now.bind(performance)) {
    this.perSecond = perSecond
    this.#now = now
    this.#left = perSecond
    this.#at = now()
  }

  /** @returns how many of these bytes may go as one piece, and the milliseconds until then; when there is no time to wait they count as gone */
  take (bytes: number): { readonly piece: number, readonly wait: number } {
    const now = this.#now()
    this.#left = Math.min(this.perSecond, this.#left + (now - this.#at) / 1000 * this.perSecond)
    this.#at = now
    const piece = Math.min(bytes, this.perSecond)
    // Timers count whole milliseconds: what is missing by then is less than one's worth.
    const wait = Math.ceil((piece - this.#left) / this.perSecond * 1000)
    if (wait > 0) return { piece, wait }
    this.#left -= piece
    return { piece, wait: 0 }
  }
}
