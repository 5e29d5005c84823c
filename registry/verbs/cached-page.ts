/** A page of a list, from a snapshot of the cache. */
import type { Entry } from '../../storage/cache/entry.js'
import type { Snapshot } from '../../storage/cache/pins.js'
import type { WatchCache } from '../../storage/cache/watch-cache.js'
import { turnIsOver } from '../../event-loop/turns.js'
import type { ResourceStore } from '../resource-store.js'
import { encodeToken } from './continue-token.js'
import { yieldTurn, type ListRequest, type ListResult } from './list-request.js'
import { exactKey, fewKeys, keysWithin, selection } from './selected-keys.js'

/** Items between two checks of the clock. */
const ITEMS_PER_CHECK = 512
const LEAVES_PER_CHECK = 16

/** What a page has so far, and what it may have. */
interface Page {
  readonly end: string
  readonly limit: number
  readonly matches: (entry: Entry) => boolean
  readonly entries: Entry[]
  readonly leaves: Array<{ at: number, entries: readonly Entry[] }>
}

interface CachedList { readonly store: ResourceStore, readonly cache: WatchCache, readonly request: ListRequest }

export async function cachedPage (
  { store, cache, request }: CachedList, snapshot: Snapshot, from: string | undefined
): Promise<ListResult> {
  const { start, end, first, everything, matches } = selection(store, request, from)
  const { map, revision } = snapshot
  const exact = exactKey(store, request)
  if (exact === undefined) cache.refuseDamage(first, end)
  else cache.get(exact)
  const limit = request.limit === 0 ? Infinity : request.limit
  const entries: Entry[] = []
  const leaves: Array<{ at: number, entries: readonly Entry[] }> = []
  let next: string | undefined = exact ?? first
  if (next !== first) {
    const entry = map.get(next)
    if (entry !== undefined && next >= first && matches(entry)) entries.push(entry)
    store.observer?.listedFromCache(entry === undefined ? 0 : 1, entries.length)
    return { revision, entries, continue: '', remaining: undefined }
  }
  const page = { end, limit, matches, entries, leaves }
  const few = everything ? undefined : fewKeys(cache, snapshot, request.fields)
  while (next !== undefined) {
    if (few !== undefined) next = collectFound(map, keysWithin(few, first, end), page)
    else next = everything ? collectAll(map, next, page) : collect(map, next, page)
    if (next !== undefined && entries.length < limit) await yieldTurn(request)
    else break
  }
  const examined = everything ? entries.length : few?.size ?? map.count(first, next ?? end)
  store.observer?.listedFromCache(examined, entries.length)
  const more = next !== undefined && map.count(next, end) > 0
  if (!more || next === undefined) return { revision, entries, leaves, continue: '', remaining: undefined }
  cache.pin(snapshot)
  return {
    revision, entries, leaves, continue: encodeToken({ revision, next: next.slice(start.length) }),
    remaining: everything ? map.count(next, end) : undefined
  }
}

/**
 * Collects matching entries until the limit, the end of the range or the end of the turn. Returns the key to continue
 * at, undefined at the end.
 */
function collect (map: Snapshot['map'], from: string, { end, limit, matches, entries }: Page): string | undefined {
  let seen = 0
  let next: string | undefined
  map.forEach(from, end, (entry, key) => {
    if (matches(entry)) entries.push(entry)
    if (entries.length >= limit || (++seen % ITEMS_PER_CHECK === 0 && turnIsOver())) {
      next = `${key}\0`
      return false
    }
    return true
  })
  return next
}

/** As `collect`, without a filter and leaf by leaf. */
function collectAll (map: Snapshot['map'], from: string, { end, limit, entries, leaves }: Page): string | undefined {
  let seen = 0
  let next: string | undefined
  map.forEachRun(from, end, ({ keys, values, from: first, to }) => {
    const last = Math.min(to, first + limit - entries.length)
    if (first === 0 && last === values.length) leaves.push({ at: entries.length, entries: values })
    for (let at = first; at < last; at++) entries.push(values[at] as Entry) // within the leaf
    if (entries.length < limit && (++seen % LEAVES_PER_CHECK !== 0 || !turnIsOver())) return true
    next = `${keys[last - 1] as string}\0`
    return false
  })
  return next
}

/** As `collect`, of entries whose keys are known. */
function collectFound (
  map: Snapshot['map'], keys: readonly string[], { limit, matches, entries }: Page
): string | undefined {
  for (const key of keys) {
    const entry = map.get(key)
    if (entry === undefined || !matches(entry)) continue
    entries.push(entry)
    if (entries.length >= limit) return `${key}\0`
  }
  return undefined
}
