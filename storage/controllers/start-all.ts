/** The start of informers that somebody decides by: a store that is away keeps nobody from asking how the server is. */
import { isStorageError } from '../errors.js'
import type { Informer } from './informer.js'

const RETRY_MS = 1000

export interface StartOptions {
  /** What they know, for the log. */
  readonly what: string
  readonly log: (message: string, error: unknown) => void
  readonly closed: () => boolean
}

/** Resolves with true when all have told of everything there is, however long that takes; with false when they were closed before. */
export async function startAll (informers: readonly Informer[], { what, log, closed }: StartOptions): Promise<boolean> {
  for (const informer of informers) {
    for (let failed = false; ;) {
      try {
        await informer.start()
        break
      } catch (error) {
        if (closed() || isStorageError(error, 'Closed')) return false
        if (!failed) log(`${what} could not be loaded, retrying until they are`, error)
        failed = true
        await new Promise(resolve => { setTimeout(resolve, RETRY_MS).unref() })
      }
    }
  }
  return true
}
