/**
 * LIST: chooses the state to read from the interface's table, then reads a page of a cache snapshot or, without one,
 * of the back end's history. (Interface: List paging, Resource version semantics.)
 */
import { cachedPage } from './cached-page.js'
import type { MayReadFrom } from './former-namespace.js'
import { waitForResourceVersion, parseRevision, waitForRevision } from './get.js'
import type { ListRequest, ListResult } from './list-request.js'
import { stateOf, tooOld } from './list-state.js'
import { storedPage } from './stored-page.js'
import type { ResourceStore } from '../resource-store.js'

/**
 * @param mayReadFrom whether the reader may see a past state; otherwise it counts as expired. Default true
 * @throws StatusError 400, 410; StorageError 'FutureRevision', 'Unavailable', 'Corrupt' with the key of an unreadable
 * object
 */
export async function list (
  store: ResourceStore, request: ListRequest, mayReadFrom?: MayReadFrom
): Promise<ListResult> {
  const state = stateOf(request)
  const { cache, backend } = store
  if (state.kind !== 'exact') {
    const version = state.kind === 'newest' ? '' : state.revision
    if (cache === undefined) {
      await waitForRevision(backend, version === '' ? 0 : parseRevision(version))
      return await storedPage(store, request, 0, state.from)
    }
    const wait = waitForResourceVersion(cache, version)
    if (wait !== undefined) await wait
    if (!cache.loaded) await cache.ready()
    return await cachedPage({ store, cache, request }, cache.snapshot, state.from)
  }
  await (cache === undefined ? waitForRevision(backend, state.revision) : cache.reach(state.revision))
  const snapshot = cache?.snapshotAt(state.revision)
  if (state.revision < backend.compactedRevision()) throw tooOld(state.from)
  if (mayReadFrom !== undefined && !await mayReadFrom(state.revision)) throw tooOld(state.from)
  return cache !== undefined && snapshot !== undefined
    ? await cachedPage({ store, cache, request }, snapshot, state.from)
    : await storedPage(store, request, state.revision, state.from)
}
