import type { BackendEvent, Revision } from '../backend.js'
import { futureRevision, StorageError } from '../errors.js'
import type { Operation } from './committer.js'
import { type Entry, KeyIndex, Version, VersionLog } from './history.js'
import { FreshEvent, type ValueOf } from './snapshot.js'

/** The versions of a store in memory, with the revisions up to which they are assigned, durable and compacted. */
export class Versions {
  readonly index = new KeyIndex(() => this.durable)
  readonly log = new VersionLog()
  /** The last revision assigned. */
  assigned: Revision = 1
  /** The last durable revision, which reads use. */
  durable: Revision = 1
  compacted: Revision = 0

  /** The revision to read. @throws StorageError 'FutureRevision', 'Compacted' */
  readable (revision: Revision | undefined): Revision {
    if (revision === undefined || revision === 0) return this.durable
    if (revision > this.durable) throw futureRevision(revision, this.durable)
    if (revision < this.compacted) {
      throw new StorageError(
        'Compacted', `revision ${revision} is no longer kept, the oldest kept is ${this.compacted}`
      )
    }
    return revision
  }

  /**
   * Adds a version with the next revision.
   * @param created undefined for a new key;
   * @param value undefined for a deletion
   */
  append (entry: Entry, value: Uint8Array | undefined, created: Revision | undefined, lease: number): Version {
    const revision = ++this.assigned
    const version = new Version(entry, revision, value === undefined ? 0 : created ?? revision, lease)
    version.value = value
    entry.newest = version
    this.log.push(version)
    return version
  }

  /** Makes the versions of a durable batch visible to reads. @returns their events */
  publish (batch: readonly Operation[], valueOf: ValueOf): BackendEvent[] {
    const events: BackendEvent[] = []
    for (const { version } of batch) {
      if (version === undefined) continue
      this.durable = version.revision
      if (version.created === version.revision) this.index.adjust(version.entry, 1)
      else if (version.created === 0) this.index.adjust(version.entry, -1)
      events.push(new FreshEvent(version, valueOf))
    }
    return events
  }

  /** Removes the versions of operations that failed. Their revisions are not reused. */
  rollBack (lost: readonly Operation[]): void {
    for (const { version } of lost.toReversed()) {
      if (version === undefined) continue
      const { entry } = version
      this.log.pop(version)
      entry.newest = version.older
      if (entry.newest === undefined) this.index.remove(entry)
    }
  }
}
