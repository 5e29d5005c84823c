/** What is told of one resource type in the store, for metrics. All calls are synchronous and must not throw. */
import type { Backend } from './backend.js'

export interface StoreObserver {
  /** A list was answered from memory: so many objects were looked at and so many are in the answer. */
  readonly listedFromCache: (looked: number, answered: number) => void
  /** The same from the back end: so many objects were read, looked at and answered. */
  readonly listedFromStore: (read: number, looked: number, answered: number) => void
  /** Changes have reached the cache. */
  readonly changed: (events: number) => void
  /** The cache has been loaded. */
  readonly loaded: () => void
  /** The store said how far its history is. */
  readonly progressed: () => void
  /** A lease gets no more objects; it has so many. */
  readonly leased: (objects: number) => void
  /** A request to the back end is over, well or not. */
  readonly called: (operation: StoreOperation, seconds: number) => void
}

export type StoreOperation = 'get' | 'list' | 'count' | 'create' | 'update' | 'delete'

const untimed = new WeakMap<object, Backend>()

/** The store behind a back end that may be timed: each resource type has a timed one of its own, of the same store. */
export const storeOf = <T extends object>(backend: T): T | Backend => untimed.get(backend) ?? backend

/** The same back end, whose requests are timed. */
export function timed (backend: Backend, called: StoreObserver['called']): Backend {
  const time = async <T>(operation: StoreOperation, answer: Promise<T>): Promise<T> => {
    const since = performance.now()
    try {
      return await answer
    } finally {
      called(operation, (performance.now() - since) / 1000)
    }
  }
  const made: Backend = {
    name: backend.name,
    get: (key, revision) => time('get', backend.get(key, revision)),
    list: request => time('list', backend.list(request)),
    count: (start, end) => time('count', backend.count(start, end)),
    create: (key, value, options) => time('create', backend.create(key, value, options)),
    update: (key, value, expected, options) => time('update', backend.update(key, value, expected, options)),
    delete: (key, expected) => time('delete', backend.delete(key, expected)),
    watch: request => backend.watch(request),
    compact: revision => backend.compact(revision),
    compactedRevision: () => backend.compactedRevision(),
    revision: () => backend.revision(),
    revisionNow: () => backend.revisionNow(),
    status: () => backend.status(),
    ...(backend.shortage === undefined ? {} : { shortage: () => backend.shortage?.() }),
    lease: seconds => backend.lease(seconds),
    close: () => backend.close()
  }
  untimed.set(made, backend)
  return made
}
