/**
 * A back end in memory that behaves like a remote one: its newest revision takes a round trip, its events are late, and
 * it fails on demand. What holds on it holds on etcd.
 */
import type { Backend, BackendEvent, BackendWatch, WatchRequest } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import { openBackend } from '../../storage/open.js'

export interface Lagging extends Backend {
  /** Maximum delay of events, in milliseconds. */
  lag: number
  /** The next calls of these methods fail with Unavailable. */
  failing: Set<'list' | 'revision' | 'create' | 'update' | 'delete'>
  /** Ends all watches, as a compaction would. */
  interrupt: () => void
}

export async function laggingBackend (): Promise<Lagging> {
  const inner = await openBackend({ kind: 'memory' })
  const watches = new Map<BackendWatch, WatchRequest>()
  const later = async (): Promise<void> => {
    await new Promise(resolve => { setTimeout(resolve, Math.random() * backend.lag) })
  }
  const guard = (name: 'list' | 'revision' | 'create' | 'update' | 'delete'): void => {
    if (backend.failing.has(name)) throw new StorageError('Unavailable', `${name} fails because the test says so`)
  }

  function watch (request: WatchRequest): BackendWatch {
    const queue: Array<() => void> = []
    let draining = false
    const state = { ended: false }
    const push = (deliver: () => void): void => {
      queue.push(deliver)
      if (draining) return
      draining = true
      void (async () => {
        while (queue.length > 0 && !state.ended) {
          await later()
          if (!state.ended) queue.shift()?.()
        }
        draining = false
      })()
    }
    const made = inner.watch({
      ...request,
      onEvents: (events: BackendEvent[], revision) => { push(() => { request.onEvents(events, revision) }) },
      onProgress: revision => { push(() => { request.onProgress(revision) }) },
      onEnd: error => { push(() => { request.onEnd(error) }) }
    })
    const own: BackendWatch = {
      requestProgress: () => { made.requestProgress() },
      cancel: () => {
        state.ended = true
        watches.delete(own)
        made.cancel()
      }
    }
    watches.set(own, request)
    return own
  }

  const backend: Lagging = {
    name: 'lagging',
    lag: 3,
    failing: new Set(),
    interrupt: () => {
      for (const [one, request] of [...watches]) {
        one.cancel()
        request.onEnd(new StorageError('Compacted', 'interrupted by the test'))
      }
    },
    get: async (...args) => { await later(); return await inner.get(...args) },
    list: async (...args) => { guard('list'); await later(); return await inner.list(...args) },
    count: async (...args) => await inner.count(...args),
    create: async (...args) => { guard('create'); await later(); return await inner.create(...args) },
    update: async (...args) => { guard('update'); await later(); return await inner.update(...args) },
    delete: async (...args) => { guard('delete'); await later(); return await inner.delete(...args) },
    watch,
    compact: async revision => { await inner.compact(revision) },
    compactedRevision: () => inner.compactedRevision(),
    revision: async () => { guard('revision'); await later(); return await inner.revision() },
    revisionNow: () => undefined,
    status: async () => await inner.status(),
    lease: async ttl => await inner.lease(ttl),
    close: async () => { await inner.close() }
  }
  return backend
}
