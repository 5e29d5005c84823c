/** A change of one object at one revision, with its encodings shared by all watchers. */
import type { Revision } from '../backend.js'
import type { Entry } from './entry.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export class CacheEvent {
  readonly type: EventType
  readonly revision: Revision
  /** The new state; for DELETED the last state with the revision of the delete. */
  readonly entry: Entry
  /** The previous state; undefined for ADDED, or if history no longer has it. */
  readonly previous: Entry | undefined
  #encoded: Map<string, Buffer> | undefined

  constructor (type: EventType, revision: Revision, entry: Entry, previous: Entry | undefined) {
    this.type = type
    this.revision = revision
    this.entry = entry
    this.previous = previous
  }

  /** Drops the encodings; watchers that are far behind encode the event again. */
  forget (): void { this.#encoded = undefined }

  /** The event's bytes in a representation, encoded at most once. */
  encoded (representation: string, encode: (event: CacheEvent) => Buffer): Buffer {
    this.#encoded ??= new Map()
    let bytes = this.#encoded.get(representation)
    if (bytes === undefined) this.#encoded.set(representation, bytes = encode(this))
    return bytes
  }
}
