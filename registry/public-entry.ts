/** Stored objects under the public project's names. */
import { rawJson } from '../schemas/codec/json/escape.js'
import { mayHaveNames, translateDecoded, translateJson } from '../schemas/compat/objects.js'
import type { Message } from '../schemas/language/declare.js'
import type { ApiObject } from '../schemas/resource.js'
import { ownBytes } from '../storage/bytes.js'
import { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from './resource-store.js'

class PublicEntry extends Entry {
  readonly #own: Entry
  readonly #message: Message

  constructor (own: Entry, message: Message) {
    super(own.key, own.revision, ownBytes(rawJson(translateJson(message, own.copy()))), own.labels, own.fields)
    this.#own = own
    this.#message = message
  }

  override encodable (): ApiObject { return translateDecoded(this.#message, this.#own.copy()) }
}

/**
 * The entry of a store's version as clients with public names see it; the result is cached on the entry. Its labels and
 * fields, which selectors match, stay ours.
 */
export function publicEntry ({ representation: { message } }: ResourceStore, entry: Entry): Entry {
  return entry.derive('public', own => mayHaveNames(own.json) ? new PublicEntry(own, message) : own)
}
