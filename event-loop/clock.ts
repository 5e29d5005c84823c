/**
 * Time source of a server for everything that clients see of time: timestamps, lifetimes and timeouts. Measurements and
 * retries use real time.
 */
export interface Clock {
  /** Milliseconds since 1970, for values that survive a restart. */
  wall: () => number
  /** Monotonic milliseconds, for measurements within this process. */
  elapsed: () => number
  /** Calls back once after that many milliseconds; the returned function cancels it. */
  after: (milliseconds: number, callback: () => void) => () => void
}

/** Node fires longer timers at once, so callers must split longer waits. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Its timers do not keep the process alive. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  elapsed: () => performance.now(),
  after (milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, milliseconds), MAX_TIMER_MS))
    timer.unref()
    return () => clearTimeout(timer)
  }
}
