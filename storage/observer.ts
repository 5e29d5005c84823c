/** Observes one resource type in the store, for metrics. Calls are synchronous and must not throw. */
import type { Backend } from './backend.js'
import { registerWrapper } from './wrapped.js'

export interface StoreObserver {
  /** A list was served from memory: objects examined and returned. */
  readonly listedFromCache: (looked: number, answered: number) => void
  /** A list was served from the back end: objects read, examined and returned. */
  readonly listedFromStore: (read: number, looked: number, answered: number) => void
  /** The cache received changes. */
  readonly changed: (events: number) => void
  /** The cache has loaded. */
  readonly loaded: () => void
  /** The store reported progress. */
  readonly progressed: () => void
  /** A shared lease was replaced; it has this many objects. */
  readonly leased: (objects: number) => void
  /** A request to the back end ended, successfully or not. */
  readonly called: (operation: StoreOperation, seconds: number) => void
}

export type StoreOperation = 'get' | 'list' | 'count' | 'create' | 'update' | 'delete'

/** Wraps a back end to time its requests. */
export function timed (backend: Backend, called: StoreObserver['called']): Backend {
  const measure = async <T>(operation: StoreOperation, result: Promise<T>): Promise<T> => {
    const since = performance.now()
    try {
      return await result
    } finally {
      called(operation, (performance.now() - since) / 1000)
    }
  }
  return registerWrapper({
    name: backend.name,
    get: (key, revision) => measure('get', backend.get(key, revision)),
    list: request => measure('list', backend.list(request)),
    count: (start, end) => measure('count', backend.count(start, end)),
    create: (key, value, options) => measure('create', backend.create(key, value, options)),
    update: (key, value, expected, options) => measure('update', backend.update(key, value, expected, options)),
    delete: (key, expected) => measure('delete', backend.delete(key, expected)),
    watch: request => backend.watch(request),
    compact: revision => backend.compact(revision),
    compactedRevision: () => backend.compactedRevision(),
    revision: () => backend.revision(),
    revisionNow: () => backend.revisionNow(),
    ...(backend.delivered === undefined ? {} : { delivered: () => backend.delivered?.() }),
    status: () => backend.status(),
    ...(backend.shortage === undefined ? {} : { shortage: () => backend.shortage?.() }),
    lease: seconds => backend.lease(seconds),
    ...(backend.asRead === undefined ? {} : { asRead: backend.asRead }),
    ...(backend.outdated === undefined ? {} : { outdated: backend.outdated }),
    close: () => backend.close()
  }, backend)
}
