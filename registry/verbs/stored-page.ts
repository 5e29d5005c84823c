/** A page of a list, from the back end. */
import type { Revision } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isStorageError } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { encodeToken } from './continue-token.js'
import { yieldTurn, type ListRequest, type ListResult } from './list-request.js'
import { tooOld } from './list-state.js'
import { exactKey, selection } from './selected-keys.js'

const BACKEND_PAGE = 500

/** Reads it at a revision that the cache lacks; 0 is the newest. */
export async function storedPage (
  store: ResourceStore, request: ListRequest, at: Revision, from: string | undefined
): Promise<ListResult> {
  const { start, end, first, everything, matches } = selection(store, request, from)
  const limit = request.limit === 0 ? Infinity : request.limit
  const entries: Entry[] = []
  const rethrow = (error: unknown): never => { throw isStorageError(error, 'Compacted') ? tooOld(from) : error }
  const exact = exactKey(store, request)
  if (exact !== undefined) {
    const { revision, kv } = await store.backend.get(exact, at).catch(rethrow)
    const entry = kv === undefined || exact < first ? undefined : store.entries.decode(kv, kv.modRevision)
    if (entry !== undefined && matches(entry)) entries.push(entry)
    store.observer?.listedFromStore(kv === undefined ? 0 : 1, entry === undefined ? 0 : 1, entries.length)
    return { revision, entries, continue: '', remaining: undefined }
  }
  let next = first
  let revision = at
  let read = 0
  let examined = 0
  for (;;) {
    const size = everything ? Math.min(BACKEND_PAGE, limit - entries.length) : BACKEND_PAGE
    const { kvs, more, count, revision: current } = await store.backend
      .list({ start: next, end, revision, limit: size })
      .catch(rethrow)
    revision ||= current
    let used = 0
    read += kvs.length
    for (const kv of kvs) {
      const entry = store.entries.decode(kv, kv.modRevision)
      if (matches(entry)) entries.push(entry)
      next = `${kv.key}\0`
      used++
      if (entries.length >= limit) break
    }
    examined += used
    const left = more || used < kvs.length
    if (!left || entries.length >= limit) store.observer?.listedFromStore(read, examined, entries.length)
    if (!left) return { revision, entries, continue: '', remaining: undefined }
    if (entries.length >= limit) {
      return {
        revision, entries, continue: encodeToken({ revision, next: next.slice(start.length) }),
        remaining: everything ? count - used : undefined
      }
    }
    await yieldTurn(request)
  }
}
