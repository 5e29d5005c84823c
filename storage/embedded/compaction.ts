import type { Revision } from '../backend.js'
import type { Clock } from '../../event-loop/clock.js'
import { isStorageError, StorageError } from '../errors.js'
import type { KeyIndex, Version, VersionLog } from './history.js'
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
  constructor (
    versions: Versions, readers: Readers, store: (changes: readonly Change[]) => Promise<void>, clock: Clock
  ) {
    this.#versions = versions
    this.#readers = readers
    this.#store = store
    this.#clock = clock
  }

  /** @throws StorageError 'FutureRevision' */
  async compact (revision: Revision): Promise<void> {
    const { durable, compacted } = this.#versions
    if (revision > durable) {
      throw new StorageError('FutureRevision', `cannot compact to revision ${revision}: the newest is ${durable}`)
    }
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
 * Removes the versions that no reader at or after `revision` sees, and keys that were deleted by then. Yields the
 * versions to remove from the medium, per key in ascending order with a deletion last, so that an interrupted
 * compaction never restores a deleted key. Its turns are short however much is removed, such as days of history after a
 * restart with a shorter retention.
 */
async function * compactChains (index: KeyIndex, log: VersionLog, revision: Revision): AsyncGenerator<Version[]> {
  const yielder = new Yielder()
  /** Deletions that no later version has replaced so far. */
  const deletions = new Set<Version>()
  let garbage: Version[] = []
  for (let at = 0, end = log.after(revision); at < end; at++) {
    const version = log.at(at)
    if (version === undefined) break
    const { older } = version
    if (older !== undefined) {
      // The log ascends, so that what is older than this one was removed before.
      version.older = undefined
      deletions.delete(older)
      garbage.push(older)
    }
    if (version.created === 0) deletions.add(version)
    if (garbage.length >= BATCH) {
      yield garbage
      garbage = []
    }
    if (yielder.isDue()) await yielder.yield()
  }
  log.forget(revision)
  for (const deletion of deletions) {
    cutOff(index, deletion)
    garbage.push(deletion)
    if (garbage.length >= BATCH) {
      yield garbage
      garbage = []
    }
    if (yielder.isDue()) await yielder.yield()
  }
  if (garbage.length > 0) yield garbage
}

/** Removes a deletion from its key, and the key if it has no newer version. */
function cutOff (index: KeyIndex, deletion: Version): void {
  const { entry } = deletion
  if (entry.newest === deletion) {
    entry.newest = undefined
    index.remove(entry)
    return
  }
  let newer = entry.newest
  while (newer !== undefined && newer.older !== deletion) newer = newer.older
  if (newer !== undefined) newer.older = undefined
}
