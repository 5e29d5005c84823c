/**
 * Limits the history of the store: every interval compacts to the revision of one interval ago, so that each revision
 * stays readable for one to two intervals. Several servers on one store may do so concurrently; compacting to a lower
 * revision is a no-op.
 */
import type { Backend, Revision } from './backend.js'
import { type Clock, systemClock } from '../event-loop/clock.js'
import { isStorageError } from './errors.js'

/** @param interval milliseconds, 0 disables compaction. @returns a function that stops it */
export function startCompaction (
  backend: Backend, interval: number, log: (message: string, error: unknown) => void, clock: Clock = systemClock
): () => void {
  if (interval <= 0) return () => {}
  let before: Revision | undefined
  let stopped = false
  const compactOnce = async (): Promise<void> => {
    try {
      const now = await backend.revision()
      if (before !== undefined && before > backend.compactedRevision()) await backend.compact(before)
      before = now
    } catch (error) {
      if (!stopped && !isStorageError(error, 'Closed')) {
        log('compacting the store failed, retrying at the next interval', error)
      }
    }
  }
  let cancel = (): void => {}
  const repeat = (): void => {
    void compactOnce()
    cancel = clock.after(interval, repeat)
  }
  repeat()
  return () => {
    stopped = true
    cancel()
  }
}
