/** What a watch sees: the change of one object at one revision, with its encodings made once for all watchers. */
import type { Revision } from '../backend.js'
import type { Entry } from './entry.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export class CacheEvent {
  readonly type: EventType
  readonly revision: Revision
  /** The new state; for DELETED the last state, carrying the revision of the delete. */
  readonly entry: Entry
  /** What it replaced or removed; undefined on ADDED, or where history no longer knows it. */
  readonly previous: Entry | undefined
  #encoded: Map<string, Buffer> | undefined

  constructor (type: EventType, revision: Revision, entry: Entry, previous: Entry | undefined) {
    this.type = type
    this.revision = revision
    this.entry = entry
    this.previous = previous
  }

  /** Drops the encodings: whoever is that far behind makes them again. */
  forget (): void { this.#encoded = undefined }

  /** The bytes of this event in a form, made at most once. */
  encoded (form: string, encode: (event: CacheEvent) => Buffer): Buffer {
    this.#encoded ??= new Map()
    let bytes = this.#encoded.get(form)
    if (bytes === undefined) this.#encoded.set(form, bytes = encode(this))
    return bytes
  }
}
