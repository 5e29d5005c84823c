/** What every back end does for a watch: it picks what is news to it, and keeps what its receiver throws from the others. */
import type { BackendEvent, Revision, WatchRequest } from './backend.js'
import { StorageError } from './errors.js'

/** The events in the range of a watch and after its position; undefined when there are none. */
export function newsOf (events: readonly BackendEvent[], { start, end }: WatchRequest, position: Revision): BackendEvent[] | undefined {
  let news: BackendEvent[] | undefined
  for (const event of events) {
    const { key, modRevision } = event.kv
    if (key >= start && key < end && modRevision > position) (news ??= []).push(event)
  }
  return news
}

/** Calls a receiver back; one that throws ends its own watch and harms no other. */
export function callSafely (callback: () => void, end: (error: StorageError) => void): void {
  try {
    callback()
  } catch (error) {
    end(new StorageError('Closed', 'the receiver of the watch failed', { cause: error }))
  }
}

/** The last thing a receiver is told; what it makes of it can't stop the others. */
export function callOnEnd ({ onEnd }: WatchRequest, error: StorageError): void {
  try {
    onEnd(error)
  } catch {
    // It was told.
  }
}
