/** Snapshots whose later pages somebody will ask for, kept while the window still covers what has changed since. */
import type { Revision } from '../backend.js'
import type { Entry } from './entry.js'
import type { OrderedMap } from './ordered-map.js'
import type { EventWindow } from './window.js'

export interface Snapshot { readonly revision: Revision, readonly map: OrderedMap<Entry> }

const MOST = 128

export class Pins {
  readonly #all = new Map<Revision, { readonly map: OrderedMap<Entry>, readonly end: number }>()

  add ({ revision, map }: Snapshot, window: EventWindow): void {
    if (this.#all.has(revision)) return
    this.#all.set(revision, { map, end: window.end })
    if (this.#all.size > MOST) this.#all.delete(this.#all.keys().next().value as Revision) // not empty: one was just set
  }

  at (revision: Revision): Snapshot | undefined {
    const pin = this.#all.get(revision)
    return pin === undefined ? undefined : { revision, map: pin.map }
  }

  /** Forgets those that the store may no longer read itself, so that a token ends at one time everywhere. */
  trim (compacted: Revision, window: EventWindow): void {
    for (const [revision, { end }] of this.#all) {
      if (revision < compacted || end < window.begin) this.#all.delete(revision)
    }
  }

  clear (): void { this.#all.clear() }
}
