/** What JSON and YAML have in common. */
import { stringify } from '../../schemas/codec/json/exact.js'
import { writeText, type Asker } from '../../schemas/codec/text-thread.js'
import { isLarge } from '../../event-loop/turns.js'
import type { Entry } from '../../storage/cache/entry.js'
import { shownEntry } from '../../registry/shown-entry.js'
import { metadataOf } from '../list-metadata.js'
import { mapped, objectIn, type Part, type ShownEntry, type ShownList, type TextFormat } from './format.js'

/** One large object, written by a worker thread. @param json compact */
export async function writtenByThread (
  json: Uint8Array, format: NonNullable<TextFormat['slow']>, asker: () => Asker
): Promise<Buffer> {
  const { buffer, byteOffset, byteLength } = await writeText(json, { format, item: false }, asker())
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** In a format that is slow to write. */
export function textEntry (
  format: TextFormat, { store, naming, asker }: ShownEntry, own: Entry
): Buffer | Promise<Buffer> {
  const entry = shownEntry(store, naming, own)
  return format.slow !== undefined && isLarge(entry.json.length)
    ? writtenByThread(entry.json, format.slow, asker)
    : format.document(entry.object)
}

export function textList (format: TextFormat, shown: ShownList): Iterable<Part> {
  const { store, list, naming, asker } = shown
  const { listKind, apiVersion } = store.representation
  const objectOf = objectIn(shown)
  const head = { kind: listKind, apiVersion: naming.group(apiVersion), metadata: metadataOf(list, store) }
  const item = (entry: Entry): Part => byThread(format, entry, asker, () => entry.json) ?? format.item(objectOf(entry))
  return format.listing(head, 'items', mapped(list.entries, item))
}

/** Writes what is made of an entry as an item. */
export function textItem (format: TextFormat, entry: Entry, made: object, asker: () => Asker): Part {
  return byThread(format, entry, asker, () => Buffer.from(stringify(made) ?? 'null')) ?? format.item(made)
}

/** Large items are written by a worker thread, if the format is slow. @param json compact */
function byThread (
  { slow }: TextFormat, { json: { length } }: Entry, asker: () => Asker, json: () => Uint8Array
): Part | undefined {
  return slow !== undefined && isLarge(length) ? writeText(json(), { format: slow, item: true }, asker()) : undefined
}
