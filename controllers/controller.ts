/** What `plugins/controllers/index.ts` starts and stops, and what all of its kind have in common. */
import { isStorageError } from '../storage/errors.js'
import { current } from '../registry/operations/rewrite.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Clock } from '../storage/clock.js'
import type { ObserveQueue } from './work-queue.js'

export interface Controller {
  /**
   * Resolves when what readiness waits for is done; after that it goes on by itself until it is closed.
   * @throws whatever the store fails with; it is started again until it succeeds
   */
  start: () => Promise<void>
  /** Begins nothing any more; resolves when nothing is under way. */
  close: () => Promise<void>
}

export interface ControllerOptions {
  readonly resources: ResourceRegistry
  readonly log: (message: string, error: unknown) => void
  readonly clock?: Clock
  /** Told of what its queue does. Default nobody is. */
  readonly observeQueue?: ObserveQueue
}

/** An object that can't be read is there too. */
export async function isThere (store: ResourceStore, key: string): Promise<boolean> {
  try {
    return await current(store, key) !== undefined
  } catch (error) {
    if (isStorageError(error, 'Corrupt')) return true
    throw error
  }
}
