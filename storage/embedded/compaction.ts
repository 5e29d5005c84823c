import type { Revision } from '../backend.js'
import type { Clock } from '../clock.js'
import { isStorageError, StorageError } from '../errors.js'
import type { Entry, KeyIndex, Version, VersionLog } from './history.js'
import type { Change } from './medium.js'
import type { Readers } from './readers.js'
import type { Versions } from './versions.js'
import { Yielder } from './yielder.js'

/** Versions per batch of the medium. */
const BATCH = 512
const SPACE_RETRY_MS = 1000

/** Runs compactions one after the other. */
export class Compactor {
  readonly #versions: Versions
  readonly #readers: Readers
  readonly #store: (changes: readonly Change[]) => Promise<void>
  readonly #clock: Clock
  #last: Promise<void> = Promise.resolve()

  /** @param store resolves when the changes are durable */
  constructor (versions: Versions, readers: Readers, store: (changes: readonly Change[]) => Promise<void>, clock: Clock) {
    this.#versions = versions
    this.#readers = readers
    this.#store = store
    this.#clock = clock
  }

  /** @throws StorageError 'FutureRevision' */
  async compact (revision: Revision): Promise<void> {
    const { durable, compacted } = this.#versions
    if (revision > durable) throw new StorageError('FutureRevision', `cannot compact to revision ${revision}: the newest is ${durable}`)
    if (revision <= compacted) return await this.#last
    // Stop new reads and replays of the history to be removed.
    this.#versions.compacted = revision
    const compaction = this.#last.then(() => this.#compact(revision))
    this.#last = compaction.catch(() => {})
    await compaction
  }

  async #compact (revision: Revision): Promise<void> {
    await this.#store([{ type: 'compacted', revision }])
    await this.#readers.settledBefore(revision)
    for await (const garbage of compactChains(this.#versions.index, this.#versions.log, revision)) {
      await this.#forget(garbage)
    }
  }

  /** Removes versions from the medium, retrying while the disk is full. */
  async #forget (garbage: readonly Version[]): Promise<void> {
    for (;;) {
      try {
        return await this.#store(garbage.map(version => ({ type: 'forget', version })))
      } catch (error) {
        if (!isStorageError(error, 'NoSpace')) throw error
        await new Promise<void>(resolve => { this.#clock.after(SPACE_RETRY_MS, resolve) })
      }
    }
  }
}

/**
 * Removes the versions that no reader at or after `revision` sees, and keys that were deleted by then. Yields the versions to remove from the medium, per key
 * in ascending order with a deletion last, so that an interrupted compaction never restores a deleted key.
 */
async function * compactChains (index: KeyIndex, log: VersionLog, revision: Revision): AsyncGenerator<Version[]> {
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
