/**
 * Bounds the history of the store: every interval it compacts to where the store was one interval
 * ago, so that each revision stays readable for between one and two intervals. Several servers on one
 * store do it side by side; the smaller request changes nothing.
 */
import type { Backend, Revision } from './backend.js'
import { isStorageError } from './errors.js'

/** @param interval milliseconds, 0 never compacts. @returns ends it */
export function startCompaction (backend: Backend, interval: number, log: (message: string, error: unknown) => void): () => void {
  if (interval <= 0) return () => {}
  let before: Revision | undefined
  let stopped = false
  const turn = async (): Promise<void> => {
    try {
      const now = await backend.revision()
      if (before !== undefined && before > backend.compactedRevision()) await backend.compact(before)
      before = now
    } catch (error) {
      if (!stopped && !isStorageError(error, 'Closed')) log('compacting the store failed, retrying at the next interval', error)
    }
  }
  const timer = setInterval(() => { void turn() }, interval)
  timer.unref()
  void turn()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}
