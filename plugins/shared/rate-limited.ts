/** Rate limits for reports of events that may occur on every request. */
const EVERY_MS = 10_000

export function occasionally<T> (report: (event: T) => void, every = EVERY_MS): (event: T) => void {
  let reportedAt = -Infinity
  return event => {
    const now = performance.now()
    if (now - reportedAt < every) return
    reportedAt = now
    report(event)
  }
}

/**
 * Reports at most `max` events per `every` milliseconds.
 * @param report also receives the number of events suppressed since the last report
 */
export function rateLimited<T> (
  max: number, every: number, report: (event: T, suppressed: number) => void
): (event: T) => void {
  let since = -Infinity
  let reported = 0
  let suppressed = 0
  return event => {
    const now = performance.now()
    if (now - since >= every) {
      since = now
      reported = 0
    }
    if (reported++ >= max) {
      suppressed++
      return
    }
    report(event, suppressed)
    suppressed = 0
  }
}
