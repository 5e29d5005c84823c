/**
 * Queries of the history at a revision. Results contain exactly the writes up to that revision, even if the query
 * yields to the event loop.
 */
import type { BackendEvent, KeyValue, RangeRequest, Revision } from '../backend.js'
import { isStorageError, type StorageError } from '../errors.js'
import { type KeyIndex, type Version, type VersionLog, visibleAt } from './history.js'
import { Yielder } from './yielder.js'

const EMPTY: Uint8Array = new Uint8Array(0)

interface History {
  readonly index: KeyIndex
  readonly log: VersionLog
  /** The newest revision that readers may see. */
  readonly durable: Revision
}
/** The keys in [start, end). */
export type KeyRange = Pick<RangeRequest, 'start' | 'end'>
/** The revisions in (after, upTo]. */
export interface RevisionRange { readonly after: Revision, readonly upTo: Revision }

/** Returns the bytes of a durable or pending version. */
export type ValueOf = (version: Version) => Uint8Array

/** @throws StorageError other than 'Corrupt', which is returned as `damage` */
export function keyValue (version: Version, valueOf: ValueOf): KeyValue {
  let value = EMPTY
  let damage: StorageError | undefined
  try {
    if (version.created !== 0) value = valueOf(version)
  } catch (error) {
    if (!isStorageError(error, 'Corrupt')) throw error
    damage = error
  }
  const kv = { key: version.entry.key, value, createRevision: version.created, modRevision: version.revision }
  return damage === undefined ? kv : { ...kv, damage }
}

/** The change that a version made. A deletion has create revision 0 and its own modRevision. */
export function eventOf (version: Version, valueOf: ValueOf): BackendEvent {
  const { older } = version
  const previous = older === undefined || older.created === 0 ? undefined : keyValue(older, valueOf)
  return { type: version.created === 0 ? 'delete' : 'put', kv: keyValue(version, valueOf), previous }
}

/** An event of a new change. `previous` is read on demand, because live watchers rarely use it. */
export class FreshEvent {
  readonly type: 'put' | 'delete'
  readonly kv: KeyValue
  readonly #valueOf: ValueOf
  #older: Version | undefined
  #previous: KeyValue | undefined

  constructor (version: Version, valueOf: ValueOf) {
    const { older, created } = version
    this.type = created === 0 ? 'delete' : 'put'
    this.kv = keyValue(version, valueOf)
    this.#valueOf = valueOf
    this.#older = older === undefined || older.created === 0 ? undefined : older
  }

  get previous (): KeyValue | undefined {
    if (this.#older !== undefined) {
      try {
        this.#previous = keyValue(this.#older, this.#valueOf)
      } catch {
        // Compacted or unreadable: deliver the event without it.
      }
      this.#older = undefined
    }
    return this.#previous
  }
}

/** The versions a reader of the range sees, in order, at most `limit` of them (0 for all). */
export async function versionsAt (
  index: KeyIndex, { start, end }: KeyRange, revision: Revision, limit: number
): Promise<Version[]> {
  const versions: Version[] = []
  const yielder = new Yielder()
  let from = start
  let more = true
  while (more) {
    more = false
    index.walk(from, end, entry => {
      if (yielder.isDue()) {
        from = entry.key
        more = true
        return false
      }
      const version = visibleAt(entry, revision)
      if (version !== undefined) versions.push(version)
      return limit === 0 || versions.length < limit
    })
    if (more) await yielder.yield()
  }
  return versions
}

export async function valuesOf (versions: readonly Version[], valueOf: ValueOf): Promise<KeyValue[]> {
  const yielder = new Yielder()
  const kvs: KeyValue[] = []
  for (const version of versions) {
    kvs.push(keyValue(version, valueOf))
    if (yielder.isDue()) await yielder.yield()
  }
  return kvs
}

/**
 * Number of keys of a range at a past revision: the current number minus later changes or, if these outnumber the
 * keys, a walk over the keys.
 */
export async function countAt (
  { index, log, durable }: History, range: KeyRange, revision: Revision
): Promise<number> {
  const { start, end } = range
  const first = log.after(revision)
  if (log.length - first > index.size) return (await versionsAt(index, range, revision, 0)).length
  // Do not yield here: the current count and the log must belong to the same state.
  let count = index.count(start, end)
  for (let at = first, last = log.after(durable); at < last; at++) {
    const version = log.at(at)
    if (version === undefined || version.entry.key < start || version.entry.key >= end) continue
    if (version.created === version.revision) count--
    else if (version.created === 0) count++
  }
  return count
}

/** Changes of the keys and revisions, as many as fit in one turn, and the revision reached. */
export function replay (
  log: VersionLog, { start, end }: KeyRange, { after, upTo }: RevisionRange, valueOf: ValueOf
): { events: BackendEvent[], revision: Revision } {
  const events: BackendEvent[] = []
  const yielder = new Yielder()
  let reached = after
  for (let at = log.after(after); ; at++) {
    const version = log.at(at)
    if (version === undefined || version.revision > upTo) return { events, revision: upTo }
    const { key } = version.entry
    if (key >= start && key < end) events.push(eventOf(version, valueOf))
    reached = version.revision
    if (yielder.isDue()) return { events, revision: reached }
  }
}
