/** How fast bytes may go: so many a second, with a second's worth at once. */

export class ByteRate {
  readonly #perSecond: number
  readonly #now: () => number
  #left: number
  #at: number

  /** @param now milliseconds on a clock that never goes back */
  constructor (perSecond: number, now = performance.now.bind(performance)) {
    this.#perSecond = perSecond
    this.#now = now
    this.#left = perSecond
    this.#at = now()
  }

  /** Counts bytes that have gone. @returns milliseconds until more may go */
  take (bytes: number): number {
    const now = this.#now()
    this.#left = Math.min(this.#perSecond, this.#left + (now - this.#at) / 1000 * this.#perSecond) - bytes
    this.#at = now
    return this.#left >= 0 ? 0 : -this.#left / this.#perSecond * 1000
  }
}
