/**
 * Deduplicates failures that many caches and controllers report at once, or again and again, for one reason, such as an
 * unavailable store: logs the first and counts the rest.
 */
import { reasonOf } from '../../storage/errors.js'

type Log = (message: string, error: unknown) => void

const FIRST_WINDOW = 1000
const MAX_WINDOW = 60_000

/**
 * @param first milliseconds after which repeats are counted in the log; each further count of the same reason comes
 * after twice the time, at most a minute
 */
export function withoutRepeats (log: Log, first = FIRST_WINDOW): Log {
  const counts = new Map<string, number>()
  const count = (reason: string, error: unknown, window: number): void => {
    counts.set(reason, 0)
    setTimeout(() => {
      const more = counts.get(reason) ?? 0
      counts.delete(reason)
      if (more === 0) return
      log(`${more} more failures had the same reason`, error)
      count(reason, error, Math.min(2 * window, MAX_WINDOW))
    }, window).unref()
  }
  return (message, error) => {
    const reason = reasonOf(error)
    const before = counts.get(reason)
    if (before !== undefined) {
      counts.set(reason, before + 1)
      return
    }
    log(message, error)
    count(reason, error, first)
  }
}
