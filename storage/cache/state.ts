/**
 * The state of a watch cache: its objects, what finds them, and the window of events that led to it. Snapshots are
 * versions of a copy-on-write map. Snapshots of paged lists are kept while the window covers the changes since; after
 * that the back end serves that revision.
 */
import type { BackendEvent, KeyValue, Revision } from '../backend.js'
import { StorageError } from '../errors.js'
import { copyOf } from '../bytes.js'
import { rangeOf } from '../key.js'
import { Entry } from './entry.js'
import { CacheEvent } from './event.js'
import { FieldIndex, type Required } from './field-index.js'
import { Forms } from './forms.js'
import { OrderedMap } from './ordered-map.js'
import { PendingWrites } from './pending-writes.js'
import { Pins, type Snapshot } from './pins.js'
import { EventWindow } from './window.js'

export interface StateOptions {
  /** Its name in metrics, such as `deployments.apps`. */
  readonly type: string
  /** Places of the fields by which objects are found. */
  readonly indexedFields: readonly number[]
  /** The path of all its keys. */
  readonly scope: string
  /** Decodes a value; throws 'Corrupt' or 'Undecryptable'. `revision` becomes the entry's resourceVersion. */
  readonly decode: (kv: KeyValue, revision: Revision) => Entry
  /** Whether changes are decoded when they are read: those of processes of the same server can be. Default at once. */
  readonly decodesLate?: boolean | undefined
  /** Minimum number of events to keep. */
  readonly windowSize: number
}

/** What a list of the store has. */
export interface Listed {
  readonly revision: Revision
  readonly pairs: ReadonlyArray<[string, Entry]>
  /** Unreadable objects by key, usually none. */
  readonly damaged: Map<string, StorageError>
}

/** Maximum events to undo for a past snapshot. */
const MAX_UNDONE = 1000

export class CacheState {
  readonly #options: StateOptions
  readonly #forms: Forms
  readonly #index: FieldIndex
  readonly #pins = new Pins()
  readonly pendingWrites = new PendingWrites()
  map = OrderedMap.empty<Entry>()
  window: EventWindow
  /** Revision of the newest event in the map. */
  #changed: Revision = 0
  #damaged: Listed['damaged'] = new Map()

  constructor (options: StateOptions) {
    this.#options = options
    this.window = new EventWindow(0, options.windowSize)
    this.#forms = new Forms(options.type, () => this.#runs())
    this.#index = new FieldIndex(options.indexedFields)
  }

  /** Begins anew. */
  reset ({ revision, pairs, damaged }: Listed): void {
    this.#damaged = damaged
    this.leave()
    this.#index.clear()
    for (const [key, entry] of pairs) {
      entry.enter(this.#forms)
      this.#index.change(key, undefined, entry)
    }
    this.map = OrderedMap.fromSorted(pairs)
    this.#changed = revision
    this.window = new EventWindow(revision, this.#options.windowSize)
    this.#pins.clear()
  }

  /** What readers still hold of a state that is over keeps nothing. */
  leave (): void { for (const run of this.#runs()) for (const entry of run) entry.leave(this.#forms) }

  #runs (): Array<readonly Entry[]> {
    const runs: Array<readonly Entry[]> = []
    const { start, end } = rangeOf(this.#options.scope)
    this.map.forEachRun(start, end, ({ values }) => runs.push(values) > 0)
    return runs
  }

  isDamaged (key: string): boolean { return this.#damaged.has(key) }

  /** @throws StorageError 'Corrupt' or 'Undecryptable' if the object exists but is unreadable */
  get (key: string): Entry | undefined {
    const entry = this.map.get(key)
    if (entry !== undefined || this.#damaged.size === 0) return entry
    const damage = this.#damaged.get(key)
    if (damage !== undefined) throw damage
    return undefined
  }

  /**
   * Checks a range before it is listed.
   * @throws StorageError 'Corrupt' or 'Undecryptable' with the key of an unreadable object
   */
  refuseDamage (start: string, end: string): void {
    for (const [key, damage] of this.#damaged) if (key >= start && key < end) throw damage
  }

  /** Keys of all entries with these values, or of more, in no order; undefined if no index helps with this state. */
  keysWith ({ map }: Snapshot, required: readonly Required[]): ReadonlySet<string> | undefined {
    return map === this.map ? this.#index.keysWith(required) : undefined
  }

  /** Applies a change of the store. @returns its number in the window; undefined for nothing new */
  change (event: BackendEvent, now: number): number | undefined {
    const cacheEvent = this.#eventOf(event)
    if (cacheEvent === undefined) return undefined
    const { key } = event.kv
    const present = cacheEvent.type === 'DELETED' ? undefined : cacheEvent.entry
    this.map = present === undefined ? this.map.delete(key) : this.map.set(key, present)
    cacheEvent.previous?.leave(this.#forms)
    present?.enter(this.#forms)
    this.#index.change(key, cacheEvent.previous, present)
    this.#changed = cacheEvent.revision
    return this.window.push(cacheEvent, now)
  }

  #eventOf (event: BackendEvent): CacheEvent | undefined {
    const { kv } = event
    const previous = this.map.get(kv.key)
    const revision = kv.modRevision
    // Watchers may know the object from before it was damaged, but its last state is unreadable, so they must list
    // again.
    if (this.#damaged.delete(kv.key) && event.type === 'delete') {
      throw new StorageError('Compacted', `the damaged object ${kv.key} was deleted`)
    }
    try {
      if (event.type === 'delete') {
        return previous === undefined ? undefined : new CacheEvent('DELETED', revision, previous.at(revision), previous)
      }
      const entry = this.pendingWrites.take(kv, revision) ?? this.#entryOf(kv, revision)
      return new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', revision, entry, previous)
    } catch (error) {
      throw new StorageError('Corrupt', `the stored value of ${kv.key} at revision ${revision} can't be decoded`, {
        key: kv.key, cause: error
      })
    }
  }

  #entryOf (kv: KeyValue, revision: Revision): Entry {
    const { decode, decodesLate = false, indexedFields } = this.#options
    if (!decodesLate || indexedFields.length > 0 || kv.damage !== undefined) return decode(kv, revision)
    const own = { ...kv, value: copyOf(kv.value) } // it may be part of a larger frame
    return Entry.unread(kv.key, revision, { bytes: kv.value.length, read: () => decode(own, revision) })
  }

  /** The state at exactly that revision, which is not in the future, if it is known here. */
  snapshotAt (revision: Revision): Snapshot | undefined {
    if (revision >= this.#changed) return { revision, map: this.map }
    return this.#pins.at(revision) ?? this.#before(revision)
  }

  /** Restores a past map by undoing events of the window, at most as many as a page from the back end would cost. */
  #before (revision: Revision): Snapshot | undefined {
    const window = this.window
    const first = revision < window.since ? window.begin : window.firstAfter(revision)
    if (revision < window.since || window.end - first > MAX_UNDONE) return undefined
    let map = this.map
    for (let number = window.end - 1; number >= first; number--) {
      const { entry, previous } = window.at(number) as CacheEvent // between begin and end
      map = previous === undefined ? map.delete(entry.key) : map.set(entry.key, previous)
    }
    const snapshot = { revision, map }
    this.pin(snapshot)
    return snapshot
  }

  /** Keeps a snapshot for later pages of a list. */
  pin (snapshot: Snapshot): void { this.#pins.add(snapshot, this.window) }
  trimPins (compacted: Revision): void { this.#pins.trim(compacted, this.window) }
}
