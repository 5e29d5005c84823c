import type { BackendEvent, Revision, WatchRequest } from './backend.js'
import { StorageError } from './errors.js'

/** The events within a watch's range and after its position; undefined if none. */
export function newEventsOf (
  events: readonly BackendEvent[], { start, end }: WatchRequest, position: Revision
): BackendEvent[] | undefined {
  let fresh: BackendEvent[] | undefined
  for (const event of events) {
    const { key, modRevision } = event.kv
    if (key >= start && key < end && modRevision > position) (fresh ??= []).push(event)
  }
  return fresh
}

/** Calls a receiver; if it throws, only its own watch ends. */
export function callSafely (callback: () => void, end: (error: StorageError) => void): void {
  try {
    callback()
  } catch (error) {
    end(new StorageError('Closed', 'the receiver of the watch failed', { cause: error }))
  }
}

/** Notifies a receiver of the end; its errors are ignored. */
export function callOnEnd ({ onEnd }: WatchRequest, error: StorageError): void {
  try {
    onEnd(error)
  } catch {
    // The watch has ended anyway.
  }
}
