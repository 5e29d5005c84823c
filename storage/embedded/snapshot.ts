/**
 * Questions to the history at one revision. Everything here sees exactly the writes up to the revision it
 * is given, whatever happens while it pauses between turns of the loop.
 */
import type { BackendEvent, KeyValue, Revision } from '../backend.js'
import { isStorageError, type StorageError } from '../errors.js'
import { type KeyIndex, type Version, type VersionLog, visibleAt } from './history.js'
import { Pace } from './pace.js'

const EMPTY: Uint8Array = new Uint8Array(0)

/** How a durable or pending version's bytes are found. */
export type ValueOf = (version: Version) => Uint8Array

/** @throws StorageError but 'Corrupt', which is told of this one alone */
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

/** The change that a version made. A deletion shows the create revision 0 and the deletion's own revision. */
export function eventOf (version: Version, valueOf: ValueOf): BackendEvent {
  const { older } = version
  const previous = older === undefined || older.created === 0 ? undefined : keyValue(older, valueOf)
  return { type: version.created === 0 ? 'delete' : 'put', kv: keyValue(version, valueOf), previous }
}

/** The same of a change just made: what was there before is read when somebody asks for it, which live watchers seldom do. */
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
        // Compacted meanwhile, or the disk no longer yields it: what was committed is told all the same.
      }
      this.#older = undefined
    }
    return this.#previous
  }
}

/** The versions a reader of [start, end) sees, in order, at most `limit` of them (0 for all). */
export async function versionsAt (index: KeyIndex, start: string, end: string, revision: Revision, limit: number): Promise<Version[]> {
  const found: Version[] = []
  const pace = new Pace()
  let from = start
  let more = true
  while (more) {
    more = false
    index.walk(from, end, entry => {
      if (pace.spent()) {
        from = entry.key
        more = true
        return false
      }
      const version = visibleAt(entry, revision)
      if (version !== undefined) found.push(version)
      return limit === 0 || found.length < limit
    })
    if (more) await pace.rest()
  }
  return found
}

export async function valuesOf (versions: readonly Version[], valueOf: ValueOf): Promise<KeyValue[]> {
  const pace = new Pace()
  const kvs: KeyValue[] = []
  for (const version of versions) {
    kvs.push(keyValue(version, valueOf))
    if (pace.spent()) await pace.rest()
  }
  return kvs
}

/**
 * Number of keys in [start, end) at a past revision: today's number without what happened since, or, when
 * more happened since than there are keys, a walk over the keys.
 */
export async function countAt (index: KeyIndex, log: VersionLog, start: string, end: string, revision: Revision, published: Revision): Promise<number> {
  const first = log.after(revision)
  if (log.length - first > index.size) return (await versionsAt(index, start, end, revision, 0)).length
  // Today's number and the part of the log that leads to it belong together: no pause in this function.
  let count = index.count(start, end)
  for (let at = first, last = log.after(published); at < last; at++) {
    const version = log.at(at)
    if (version === undefined || version.entry.key < start || version.entry.key >= end) continue
    if (version.created === version.revision) count--
    else if (version.created === 0) count++
  }
  return count
}

/** Changes of the range in (after, upTo], as many as one turn of the loop allows, and how far that is. */
export function replay (log: VersionLog, start: string, end: string, after: Revision, upTo: Revision, valueOf: ValueOf): { events: BackendEvent[], revision: Revision } {
  const events: BackendEvent[] = []
  const pace = new Pace()
  let reached = after
  for (let at = log.after(after); ; at++) {
    const version = log.at(at)
    if (version === undefined || version.revision > upTo) return { events, revision: upTo }
    const { key } = version.entry
    if (key >= start && key < end) events.push(eventOf(version, valueOf))
    reached = version.revision
    if (pace.spent()) return { events, revision: reached }
  }
}
