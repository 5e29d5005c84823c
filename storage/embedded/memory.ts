/** The engine without a disk, for tests and for hosts without persistent state. */
import type { Backend } from '../backend.js'
import { StorageError } from '../errors.js'
import { Engine, type EngineOptions } from './engine.js'
import type { Version } from './history.js'
import type { Change, Medium } from './medium.js'

class MemoryMedium implements Medium {
  readonly name = 'memory'
  readonly keepsValues = true
  readonly refusal = undefined
  readonly shortage = undefined
  #bytes = 0

  gather (start: () => void): void {
    queueMicrotask(start)
  }

  state () {
    return { compacted: 0, revision: 0, leases: [] }
  }

  versions () {
    return []
  }

  async commit (changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      if (change.type === 'put') this.#bytes += weight(change.version)
      else if (change.type === 'forget') this.#bytes -= weight(change.version)
    }
  }

  value (version: Version): Uint8Array {
    throw new StorageError('Corrupt', `the value of ${version.entry.key} at revision ${version.revision} no longer exists`, { key: version.entry.key })
  }

  async size (): Promise<number> {
    return this.#bytes
  }

  async close (): Promise<void> {}
}

function weight (version: Version): number {
  return version.entry.key.length + (version.value?.byteLength ?? 0)
}

/** A new, empty store in memory at revision 1. */
export function openMemory (options: EngineOptions = {}): Backend {
  return new Engine(new MemoryMedium(), options)
}
