/** Limits how often processes that ended unexpectedly are replaced. */

const MOST = 5
const WITHIN = 60_000

export class RestartLimit {
  readonly #times: number[] = []

  /**
   * Records a death. Returns true if there were too many within a minute; the server then ends instead of restarting
   * forever.
   * @param now milliseconds
   */
  recordDeath (now = performance.now()): boolean {
    this.#times.push(now)
    while ((this.#times[0] ?? now) < now - WITHIN) this.#times.shift()
    return this.#times.length >= MOST
  }
}

export const LIMIT_EXCEEDED = `${MOST} processes ended within a minute`
