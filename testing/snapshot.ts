/** The state of a test server, from which others can start. Values are shared, so taking one costs the number of objects, not their size. */
import type { Contents, MemoryStore } from '../storage/open.js'
import type { MovableClock } from './clock.js'

const STATES = new WeakMap<Snapshot, SnapshotState>()

/** Objects with their resourceVersions, and the time. Immutable. */
export interface Snapshot {
  /** The resourceVersion of the state. A watch of the original server may be continued from it, but from no earlier one. */
  readonly resourceVersion: string
}

export interface SnapshotState {
  readonly contents: Contents
  /** Milliseconds since 1970. */
  readonly time: number
  readonly held: boolean
}

export function takeSnapshot (store: MemoryStore, clock: MovableClock): Snapshot {
  const contents = store.contents()
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
