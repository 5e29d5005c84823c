import type { Revision } from '../backend.js'
import type { Entry, KeyIndex, Version, VersionLog } from './history.js'
import { Yielder } from './yielder.js'

/** Versions per batch of the medium. */
const BATCH = 512

/**
 * Removes the versions that no reader at or after `revision` sees, and keys that were deleted by then. Yields the versions to remove from the medium, per key
 * in ascending order with a deletion last, so that an interrupted compaction never restores a deleted key.
 */
export async function * compactChains (index: KeyIndex, log: VersionLog, revision: Revision): AsyncGenerator<Version[]> {
  const touched = new Set<Entry>()
  for (let at = 0; ; at++) {
    const version = log.at(at)
    if (version === undefined || version.revision > revision) break
    touched.add(version.entry)
  }
  log.forget(revision)
  const yielder = new Yielder()
  let garbage: Version[] = []
  for (const entry of touched) {
    cutChain(entry, revision, garbage)
    if (entry.newest === undefined) index.remove(entry)
    if (garbage.length >= BATCH) {
      yield garbage
      garbage = []
    }
    if (yielder.isDue()) await yielder.yield()
  }
  if (garbage.length > 0) yield garbage
}

function cutChain (entry: Entry, revision: Revision, garbage: Version[]): void {
  let newer: Version | undefined
  let seen = entry.newest
  while (seen !== undefined && seen.revision > revision) {
    newer = seen
    seen = seen.older
  }
  if (seen === undefined) return
  const from = garbage.length
  for (let older = seen.older; older !== undefined; older = older.older) garbage.push(older)
  // Collected newest first; removed oldest first.
  const ordered = garbage.splice(from).reverse()
  garbage.push(...ordered)
  seen.older = undefined
  if (seen.created !== 0) return
  garbage.push(seen)
  if (newer === undefined) entry.newest = undefined
  else newer.older = undefined
}
