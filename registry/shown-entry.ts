/** Stored objects as clients see them whose names are others than this server's. */
import { rawJson } from '../schemas/codec/json/escape.js'
import type { Naming } from '../schemas/naming.js'
import { ownBytes } from '../storage/bytes.js'
import { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from './resource-store.js'

/**
 * The entry of a store's version as its clients see it; the result is cached on the entry. Its labels and fields, which
 * selectors match, stay ours.
 */
export function shownEntry ({ representation: { message } }: ResourceStore, naming: Naming, entry: Entry): Entry {
  if (!naming.renames) return entry
  return entry.derive(naming.id, own => {
    if (!naming.mayDiffer(own.json)) return own
    const { key, revision, labels, fields } = own
    return new Entry(key, revision, ownBytes(rawJson(naming.shown(message, own.copy()))), labels, fields)
  })
}
