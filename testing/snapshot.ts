/**
 * The state of a test server, from which others can start. Values and cached entries are shared, so it costs the number
 * of objects, not their size.
 */
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { Contents, MemoryStore } from '../storage/open.js'
import type { MovableClock } from './clock.js'

const STATES = new WeakMap<Snapshot, SnapshotState>()

/** Objects with their resourceVersions, and the time. Immutable. */
export interface Snapshot {
  /**
   * The resourceVersion of the state. A watch of the original server may be continued from it, but from no earlier one.
   */
  readonly resourceVersion: string
}

export interface SnapshotState {
  readonly contents: Contents
  /** Milliseconds since 1970. */
  readonly time: number
  readonly held: boolean
}

export function takeSnapshot (store: MemoryStore, clock: MovableClock, resources: ResourceRegistry): Snapshot {
  const contents = store.contents()
  const values = new Map(contents.versions.map(version => [version.key, version]))
  for (const kept of resources.all()) kept.shareDecoded(values)
  const snapshot = { resourceVersion: String(contents.revision) }
  STATES.set(snapshot, { contents, time: clock.wall(), held: clock.held })
  return snapshot
}

/** @throws TypeError */
export function stateOf (snapshot: Snapshot): SnapshotState {
  const state = STATES.get(snapshot)
  if (state === undefined) throw new TypeError('from is no snapshot of a test server: take one with server.snapshot()')
  return state
}
