/** Counts processes that ended although they should run. */

const MOST = 5
const WITHIN = 60_000

export class Deaths {
  readonly #times: number[] = []

  /** True if that was one too many: what fails each time should not be started for ever. @param now milliseconds */
  add (now = performance.now()): boolean {
    this.#times.push(now)
    while ((this.#times[0] ?? now) < now - WITHIN) this.#times.shift()
    return this.#times.length >= MOST
  }
}

export const TOO_MANY = `${MOST} processes ended within a minute`
