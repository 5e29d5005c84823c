/** Stored objects as clients see them whose names are others than this server's. */
import { rawJson } from '../schemas/codec/json/escape.js'
import type { Naming } from '../schemas/naming.js'
import type { ApiObject } from '../schemas/resource.js'
import { ownBytes } from '../storage/bytes.js'
import { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from './resource-store.js'

class RenamedEntry extends Entry {
  readonly #own: Entry
  readonly #encodable: () => ApiObject

  constructor (own: Entry, { representation: { message } }: ResourceStore, { decoded, value }: Naming) {
    super(own.key, own.revision, ownBytes(rawJson(value(message, own.copy()))), own.labels, own.fields)
    this.#own = own
    this.#encodable = () => decoded(message, own.read())
  }

  override encodable (): ApiObject { return this.#encodable() }
}

/**
 * The entry of a store's version as its clients see it; the result is cached on the entry. Its labels and fields, which
 * selectors match, stay ours.
 */
export const shownEntry = (store: ResourceStore, naming: Naming, entry: Entry): Entry => naming.renames
  ? entry.derive(naming.id, own => naming.mayDiffer(own.json) ? new RenamedEntry(own, store, naming) : own)
  : entry
