/** Keeps the snapshots of paged lists while the window covers the changes since. */
import type { Revision } from '../backend.js'
import type { Entry } from './entry.js'
import type { OrderedMap } from './ordered-map.js'
import type { EventWindow } from './window.js'

export interface Snapshot { readonly revision: Revision, readonly map: OrderedMap<Entry> }

const MAX_PINS = 128

export class Pins {
  readonly #byRevision = new Map<Revision, { readonly map: OrderedMap<Entry>, readonly end: number }>()

  add ({ revision, map }: Snapshot, window: EventWindow): void {
    if (this.#byRevision.has(revision)) return
    this.#byRevision.set(revision, { map, end: window.end })
    // not empty after set
    if (this.#byRevision.size > MAX_PINS) this.#byRevision.delete(this.#byRevision.keys().next().value as Revision)
  }

  at (revision: Revision): Snapshot | undefined {
    const pin = this.#byRevision.get(revision)
    return pin === undefined ? undefined : { revision, map: pin.map }
  }

  /** Drops snapshots that the store has compacted, so that a continue token expires at the same time everywhere. */
  trim (compacted: Revision, window: EventWindow): void {
    for (const [revision, { end }] of this.#byRevision) {
      if (revision < compacted || end < window.begin) this.#byRevision.delete(revision)
    }
  }

  clear (): void { this.#byRevision.clear() }
}
