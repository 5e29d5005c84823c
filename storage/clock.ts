/** Time, for what waits and what ends, so that a test can hold it. */
export interface Clock {
  /** Milliseconds since 1970, for what must survive a restart. */
  wall: () => number
  /** Milliseconds that only ever rise, for what this process measures. */
  elapsed: () => number
  /** Calls back once after that many milliseconds; the returned function cancels it. */
  after: (milliseconds: number, callback: () => void) => () => void
}

/** Timers longer than this fire at once, so longer waits are divided by their users. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** Its timers keep no process alive. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  elapsed: () => performance.now(),
  after (milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, milliseconds), LONGEST_TIMER))
    timer.unref()
    return () => clearTimeout(timer)
  }
}
