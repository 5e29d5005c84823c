/** Deduplicates failures that many caches report at once for one reason, such as an unavailable store: logs the first and counts the rest. */
import { reasonOf } from '../../storage/errors.js'

type Log = (message: string, error: unknown) => void

const WINDOW_MS = 1000

export function withoutRepeats (log: Log): Log {
  const counts = new Map<string, number>()
  return (message, error) => {
    const reason = reasonOf(error)
    const count = counts.get(reason)
    if (count !== undefined) {
      counts.set(reason, count + 1)
      return
    }
    counts.set(reason, 0)
    log(message, error)
    setTimeout(() => {
      const more = counts.get(reason) ?? 0
      counts.delete(reason)
      if (more > 0) log(`${more} more failures had the same reason`, error)
    }, WINDOW_MS).unref()
  }
}
