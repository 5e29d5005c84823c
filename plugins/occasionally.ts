/** Rate limits for reports of events that may occur on every request. */
const EVERY_MS = 10_000

export function occasionally<T> (report: (what: T) => void, every = EVERY_MS): (what: T) => void {
  let reportedAt = -Infinity
  return what => {
    const now = performance.now()
    if (now - reportedAt < every) return
    reportedAt = now
    report(what)
  }
}

/** Reports at most `most` events per `every` milliseconds. @param tell also receives the number of events suppressed since the last report */
export function atMost<T> (most: number, every: number, report: (what: T, suppressed: number) => void): (what: T) => void {
  let since = -Infinity
  let reported = 0
  let suppressed = 0
  return what => {
    const now = performance.now()
    if (now - since >= every) {
      since = now
      reported = 0
    }
    if (reported++ >= most) {
      suppressed++
      return
    }
    report(what, suppressed)
    suppressed = 0
  }
}
