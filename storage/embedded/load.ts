/** Loads the data of a medium into memory, and returns a state from which another store can continue. */
import { type Entry, Version, visibleAt } from './history.js'
import type { Leases } from './leases.js'
import type { Contents, Medium, StoredVersion } from './medium.js'
import type { ValueOf } from './snapshot.js'
import type { Versions } from './versions.js'
import { Yielder } from './yielder.js'

/** @returns versions that an interrupted compaction left on the medium */
export async function load (medium: Medium, versions: Versions, leases: Leases): Promise<Version[]> {
  const { compacted, revision: newest, leases: stored } = medium.state()
  const { index, log } = versions
  versions.compacted = compacted
  const garbage: Version[] = []
  const yielder = new Yielder()
  let last = Math.max(1, compacted, newest)
  for (const batch of medium.versions()) {
    for (const { key, revision, created, lease, value } of batch) {
      last = Math.max(last, revision)
      const entry = index.ensure(key)
      const version = new Version(entry, revision, created, lease)
      const { older } = version
      version.value = value
      entry.newest = version
      if (revision > compacted) {
        log.push(version)
      } else if (older !== undefined) {
        // Leftovers of an interrupted compaction: remove older versions first.
        version.older = undefined
        garbage.push(older)
      }
    }
    await yielder.yield()
  }
  versions.assigned = versions.durable = last
  index.recount()
  for (const lease of stored) leases.restore(lease)
  garbage.push(...attach(versions, leases))
  return garbage
}

/**
 * Attaches the newest versions to their leases.
 * @returns tombstones that a compaction left behind, which are removed from the index
 */
function attach ({ index, compacted }: Versions, leases: Leases): Version[] {
  const tombstones: Version[] = []
  const deleted: Entry[] = []
  index.walk('', '\x7f', entry => {
    const { newest } = entry
    if (newest === undefined) return true
    if (newest.lease !== 0) leases.attach(newest.lease, entry.key)
    if (newest.created === 0 && newest.revision <= compacted) {
      tombstones.push(newest)
      deleted.push(entry)
    }
    return true
  })
  for (const entry of deleted) index.remove(entry)
  return tombstones
}

/** The newest state without its history. The values are shared and must not be changed. */
export function contentsOf ({ index, durable }: Versions, leases: Leases, valueOf: ValueOf): Contents {
  const versions: Required<StoredVersion>[] = []
  index.walk('', '\x7f', entry => {
    const version = visibleAt(entry, durable)
    if (version !== undefined) {
      versions.push({
        key: entry.key, revision: version.revision, created: version.created, lease: version.lease,
        value: valueOf(version)
      })
    }
    return true
  })
  return { revision: durable, versions, leases: leases.all() }
}
