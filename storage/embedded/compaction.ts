import type { Revision } from '../backend.js'
import type { Entry, KeyIndex, Version, VersionLog } from './history.js'
import { Pace } from './pace.js'

/** Versions handed over at a time; one batch of the medium each. */
const BATCH = 512

/**
 * Cuts every chain below the version that a reader at `revision` sees, drops keys that were gone by then,
 * and yields the versions to be removed from the medium: of each key the older before the newer and a
 * deletion last, so that a removal cut short never brings a deleted key back.
 */
export async function * compactChains (index: KeyIndex, log: VersionLog, revision: Revision): AsyncGenerator<Version[]> {
  const touched = new Set<Entry>()
  for (let at = 0; ; at++) {
    const version = log.at(at)
    if (version === undefined || version.revision > revision) break
    touched.add(version.entry)
  }
  log.forget(revision)
  const pace = new Pace()
  let garbage: Version[] = []
  for (const entry of touched) {
    cut(entry, revision, garbage)
    if (entry.newest === undefined) index.remove(entry)
    if (garbage.length >= BATCH) {
      yield garbage
      garbage = []
    }
    if (pace.spent()) await pace.rest()
  }
  if (garbage.length > 0) yield garbage
}

function cut (entry: Entry, revision: Revision, garbage: Version[]): void {
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
