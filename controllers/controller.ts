/** What `plugins/controllers/` calls to start and stop a controller, and what controllers share. */
import { isUnreadable } from '../storage/errors.js'
import { current } from '../registry/current.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Clock } from '../event-loop/clock.js'
import type { ObserveQueue } from './work-queue.js'

export interface Controller {
  /**
   * Resolves when the work that readiness waits for is done; the controller then continues until it is closed.
   * @throws errors of the store; the caller retries until it succeeds
   */
  start: () => Promise<void>
  /** Starts no new work; resolves when none is pending. */
  close: () => Promise<void>
}

export interface ControllerOptions {
  readonly resources: ResourceRegistry
  readonly log: (message: string, error: unknown) => void
  readonly clock?: Clock
  /** Observes the work queue. Default none. */
  readonly observeQueue?: ObserveQueue
}

/** Whether an object exists, readable or not. */
export async function objectExists (store: ResourceStore, key: string): Promise<boolean> {
  try {
    return await current(store, key) !== undefined
  } catch (error) {
    if (isUnreadable(error)) return true
    throw error
  }
}
