/** The engine without a disk, for tests and for hosts without persistent state. */
import type { Backend } from '../backend.js'
import { StorageError } from '../errors.js'
import { Engine, type EngineOptions } from './engine.js'
import type { Version } from './history.js'
import type { Change, Contents, Medium } from './medium.js'

class MemoryMedium implements Medium {
  readonly name = 'memory'
  readonly keepsValues = true
  readonly refusal = undefined
  readonly shortage = undefined
  readonly #contents: Contents | undefined
  #bytes = 0

  constructor (contents?: Contents) { this.#contents = contents }

  gather (start: () => void): void {
    queueMicrotask(start)
  }

  state () {
    const { revision = 0, leases = [] } = this.#contents ?? {}
    return { compacted: revision, revision, leases } // the history stays behind
  }

  versions () {
    // The engine loads versions in order of revision.
    const versions = (this.#contents?.versions ?? []).toSorted((one, other) => one.revision - other.revision)
    this.#bytes = versions.reduce((sum, { key, value }) => sum + key.length + value.byteLength, 0)
    return [versions]
  }

  async commit (changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      if (change.type === 'put') this.#bytes += weight(change.version)
      else if (change.type === 'forget') this.#bytes -= weight(change.version)
    }
  }

  value (version: Version): Uint8Array {
    throw new StorageError(
      'Corrupt', `the value of ${version.entry.key} at revision ${version.revision} no longer exists`,
      { key: version.entry.key }
    )
  }

  async size (): Promise<number> {
    return this.#bytes
  }

  async close (): Promise<void> {}
}

function weight (version: Version): number {
  return version.entry.key.length + (version.value?.byteLength ?? 0)
}

/** A store in memory whose contents another one can continue from. */
export interface MemoryStore extends Backend {
  readonly contents: () => Contents
}

/** A new, empty store in memory at revision 1. */
export function openMemory (options: EngineOptions = {}): MemoryStore {
  return new Engine(new MemoryMedium(), options)
}

/**
 * A store in memory that continues from the contents of another. Watches and reads of earlier revisions are refused as
 * compacted.
 */
export async function continueInMemory (contents: Contents, options: EngineOptions = {}): Promise<MemoryStore> {
  return await Engine.open(new MemoryMedium(contents), options)
}
