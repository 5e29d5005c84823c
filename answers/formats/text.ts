/** What JSON and YAML have in common. */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { writeText, type Asker } from '../../schemas/codec/text-thread.js'
import { isLarge } from '../../event-loop/turns.js'
import type { Entry } from '../../storage/cache/entry.js'
import { metadataOf } from '../list-metadata.js'
import type { Shape } from '../stored-view.js'
import { mapped, type Part, type Parts, type ShownList, type Stream, type TextForm } from './format.js'

/** A document, from compact JSON of it; of a large one by a worker thread. */
export function textOf (
  { slow, document }: Pick<TextForm, 'slow' | 'document'>, json: Buffer, asker: () => Asker
): Buffer | Promise<Buffer> {
  if (slow === undefined) return json
  if (!isLarge(json.length)) return document(parseExactly(json) as object)
  return writeText(json, { format: slow, item: false }, asker())
    .then(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))
}

/** An item of a list, from compact JSON of it. */
export function textPart ({ slow, item }: Pick<TextForm, 'slow' | 'item'>, json: Buffer, asker: () => Asker): Part {
  if (slow === undefined) return json
  if (!isLarge(json.length)) return item(parseExactly(json) as object)
  return writeText(json, { format: slow, item: true }, asker())
}

const NEWLINE_LENGTH = 1
export const TEXT: Shape = { protobuf: false, metadata: false }

type Syntax = Pick<TextForm, 'type' | 'slow' | 'document' | 'listing' | 'item'>

/** A form that is written from compact JSON. */
export const textForm = (syntax: Syntax, stream: Stream): TextForm => ({
  ...syntax,
  shape: TEXT,
  stream,
  entry: ({ view, asker }, stored) => textOf(syntax, view.entry(stored).json, asker),
  list: shown => textList(syntax, shown),
  object: (view, { message, object, omitsUnsetTimes }) =>
    syntax.document(JSON.parse(view.json(message, object, omitsUnsetTimes)) as object),
  status: status => syntax.document(status)
})

function textList (syntax: Syntax, { view, list, asker }: ShownList): Parts {
  const { store, apiVersion } = view
  const head = { kind: store.representation.listKind, apiVersion, metadata: metadataOf(list, store) }
  const item = (stored: Entry): Part => {
    const { json } = view.entry(stored)
    return textPart(syntax, json.subarray(0, json.length - NEWLINE_LENGTH), asker)
  }
  return syntax.listing(head, 'items', mapped(list.entries, item))
}
