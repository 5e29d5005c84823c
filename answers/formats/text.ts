/** What JSON and YAML have in common. */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { writeText, type Asker } from '../../schemas/codec/text-thread.js'
import { isLarge } from '../../event-loop/turns.js'
import type { Entry } from '../../storage/cache/entry.js'
import { metadataOf } from '../list-metadata.js'
import { mapped, type Part, type Parts, type ShownEntry, type ShownList, type TextFormat } from './format.js'

/** A document, from compact JSON of it; of a large one by a worker thread. */
export function textOf (format: TextFormat, json: Buffer, asker: () => Asker): Buffer | Promise<Buffer> {
  const { slow } = format
  if (slow === undefined) return json
  if (!isLarge(json.length)) return format.document(parseExactly(json) as object)
  return writeText(json, { format: slow, item: false }, asker())
    .then(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))
}

/** An item of a list, from compact JSON of it. */
export function textPart (format: TextFormat, json: Buffer, asker: () => Asker): Part {
  const { slow } = format
  if (slow === undefined) return json
  if (!isLarge(json.length)) return format.item(parseExactly(json) as object)
  return writeText(json, { format: slow, item: true }, asker())
}

export const textEntry = (format: TextFormat, { view, asker }: ShownEntry, stored: Entry): Buffer | Promise<Buffer> =>
  textOf(format, view.entry(stored).json, asker)

const NEWLINE_LENGTH = 1

export function textList (format: TextFormat, { view, list, asker }: ShownList): Parts {
  const { store, naming } = view
  const { listKind, apiVersion } = store.representation
  const head = { kind: listKind, apiVersion: naming.group(apiVersion), metadata: metadataOf(list, store) }
  const item = (stored: Entry): Part => {
    const { json } = view.entry(stored)
    return textPart(format, json.subarray(0, json.length - NEWLINE_LENGTH), asker)
  }
  return format.listing(head, 'items', mapped(list.entries, item))
}
