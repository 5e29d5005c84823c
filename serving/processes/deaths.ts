/** Counts processes that ended unexpectedly. */

const MOST = 5
const WITHIN = 60_000

export class Deaths {
  readonly #times: number[] = []

  /** Records a death. Returns true if there were too many within a minute; the server then ends instead of restarting forever. @param now milliseconds */
  add (now = performance.now()): boolean {
    this.#times.push(now)
    while ((this.#times[0] ?? now) < now - WITHIN) this.#times.shift()
    return this.#times.length >= MOST
  }
}

export const TOO_MANY = `${MOST} processes ended within a minute`
