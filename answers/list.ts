/** Sends lists: short ones whole, others in pieces, each made when it is sent. */
import type { FastifyReply } from 'fastify'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { OWN_NAMES } from '../schemas/naming.js'
import type { Entry } from '../storage/cache/entry.js'
import { leafBytes, STORED, type Items } from '../storage/cache/leaf-bytes.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { withSpan } from '../registry/trace.js'
import type { ListAnswer, ObjectList } from './answer.js'
import { chunked } from './chunks.js'
import { formatOf } from './formats/choice.js'
import { askerOf, isText, type Part, type Parts, type ShownList, type TextFormat } from './formats/format.js'
import { COMPACT, jsonList } from './formats/json.js'
import { metadataItems, metadataParts } from './formats/metadata.js'
import { PROTOBUF, protobufList } from './formats/protobuf.js'
import { includeObject, tableList } from './formats/table.js'
import { textList } from './formats/text.js'
import { LARGE_BYTES } from './heads.js'
import { ListBytes, measure, type Leaf } from './list-bytes.js'
import { formsOf } from './large-forms.js'
import { recordList } from './record.js'
import type { ServedRequest } from './request-context.js'
import { sendPieces, sendWhole } from './send-bytes.js'
import { viewOf } from './view.js'

/** Each item allows this many extra milliseconds before a list counts as slow. */
const ALLOWANCE_PER_ITEM_MS = 0.1
/** Resolves when it is written. */
export async function sendList (
  request: ServedRequest, reply: FastifyReply, { store, list: objects }: ListAnswer
): Promise<void> {
  const { trace, accept } = request.orch
  const list = accept?.as === 'Table' ? await sortedByRank(store, objects) : objects
  const count = list.entries.length
  trace.allowance = count * ALLOWANCE_PER_ITEM_MS
  await withSpan(trace, 'SerializeObject', () => writeList(request, reply, store, list), { count })
}

async function writeList (
  request: ServedRequest, reply: FastifyReply, store: ResourceStore, list: ObjectList
): Promise<void> {
  const { orch } = request
  const { accept, naming } = orch
  const format = formatOf(accept)
  const own: ShownList = { view: viewOf(store, OWN_NAMES), list, asker: () => askerOf(orch) }
  await recordList(orch, own.view, list, accept?.as === undefined ? undefined : () => parts(request, COMPACT, own))
  const shown = { ...own, view: viewOf(store, naming) }
  if (accept?.as === 'Table' || (isText(format) && format !== COMPACT)) {
    const pieces = parts(request, isText(format) ? format : COMPACT, shown)
    const { bytes } = await measure(list.entries)
    if (bytes < LARGE_BYTES) sendWhole(request, reply, format.type, await joinedParts(pieces))
    else await sendPieces(request, reply, format.type, { pieces: chunked(pieces) })
    return
  }
  const inProtobuf = format === PROTOBUF
  const joined = accept?.as !== undefined
    ? metadataItems(shown, accept.asVersion ?? '', inProtobuf)
    : inProtobuf ? protobufList(shown) : jsonList(shown)
  if (joined.items !== STORED) {
    await formsOf(shown.view, list.entries, { protobuf: inProtobuf, metadata: accept?.as !== undefined })
  }
  const ready = await readyLeaves(list, joined.items)
  const bytes = new ListBytes(joined, list.entries, await measure(list.entries, joined.items, ready), ready)
  if (bytes.length < LARGE_BYTES) sendWhole(request, reply, format.type, bytes.whole())
  else await sendPieces(request, reply, format.type, { pieces: bytes.pieces(), length: bytes.length })
}

/** @throws StatusError 400 */
function parts ({ orch: { accept, query } }: ServedRequest, format: TextFormat, shown: ShownList): Parts {
  const { as, asVersion = '' } = accept ?? {}
  if (as === undefined) return textList(format, shown)
  return as === 'Table'
    ? tableList(format, shown, asVersion, includeObject(query))
    : metadataParts(format, shown, asVersion)
}

/** The bytes of whole leaves of the cache, kept for later lists. Yields to the event loop. */
async function readyLeaves ({ leaves = [] }: ObjectList, items: Items): Promise<Leaf[]> {
  const ready: Leaf[] = []
  for (const { at, entries } of leaves) {
    if (turnIsOver()) await nextTurn()
    const bytes = leafBytes(entries, items)
    if (bytes !== undefined) ready.push({ at, count: entries.length, bytes })
  }
  return ready
}

async function joinedParts (parts: Iterable<Part>): Promise<Buffer> {
  const whole: Uint8Array[] = []
  for (const part of parts) {
    whole.push(Buffer.from(part instanceof Promise ? await part : part)) // copy: the next part may reuse the memory
    if (turnIsOver()) await nextTurn()
  }
  return Buffer.concat(whole)
}

/** Sorts entries for a Table, if its order differs from that of lists. Yields to the event loop. */
async function sortedByRank (store: ResourceStore, list: ObjectList): Promise<ObjectList> {
  const { tableRank } = store.type
  if (tableRank === undefined) return list
  const { leaves: _, ...rest } = list
  const ranks = new Map<Entry, number>()
  for (const entry of list.entries) {
    ranks.set(entry, tableRank(entry.copy()))
    if (turnIsOver()) await nextTurn()
  }
  // A stable sort keeps lists, which are in name order, when ranks are equal.
  return { ...rest, entries: [...list.entries].sort((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0)) }
}
