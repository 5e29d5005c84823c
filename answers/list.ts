/** Sends lists: short ones whole, others in pieces, each made when it is sent. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'
import type { Entry } from '../storage/cache/entry.js'
import type { LeafView } from '../storage/cache/leaf-json.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { shownEntry } from '../registry/shown-entry.js'
import { withSpan } from '../registry/trace.js'
import type { ListAnswer, ObjectList } from './answer.js'
import { chunked } from './chunks.js'
import { formatOf } from './formats/choice.js'
import { askerOf, isText, type Format, type Part, type ShownList } from './formats/format.js'
import { COMPACT, joinedList } from './formats/json.js'
import { metadataList } from './formats/metadata.js'
import { includeObject, tableList } from './formats/table.js'
import { LARGE_BYTES } from './heads.js'
import { sizeOf } from './list-bytes.js'
import { recordList } from './record.js'
import { sendPieces, sendWhole } from './send-bytes.js'

/** Each item allows this many extra milliseconds before a list counts as slow. */
const ALLOWANCE_PER_ITEM_MS = 0.1
/**
 * Up to this many JSON bytes, encoded items are cached for the next list. Larger lists would evict everything else and
 * exceed the memory limit of a list.
 */
const MAX_KEPT_BYTES = 16 * 1024 * 1024

/** Resolves when it is written. */
export async function sendList (
  request: FastifyRequest, reply: FastifyReply, { store, list: found }: ListAnswer
): Promise<void> {
  const { trace, accept } = request.orch
  const list = accept?.as === 'Table' ? await sortedByRank(store, found) : found
  const count = list.entries.length
  trace.allowance = count * ALLOWANCE_PER_ITEM_MS
  await withSpan(trace, 'SerializeObject', () => writeList(request, reply, store, list), { count })
}

async function writeList (
  request: FastifyRequest, reply: FastifyReply, store: ResourceStore, found: ObjectList
): Promise<void> {
  const { orch } = request
  const { accept, naming } = orch
  const format = formatOf(accept)
  const isTransformed = accept?.as !== undefined
  if (format === COMPACT && !isTransformed) {
    if (orch.recorder?.wantsResponse === true) await recordList(orch, store, await shownAs(store, found, OWN_NAMES))
    return await writeJoined(request, reply, store, found)
  }
  const own = await shownAs(store, found, OWN_NAMES)
  const asked: ShownList = { store, list: own, naming: OWN_NAMES, keep: false, asker: () => askerOf(orch) }
  await recordList(orch, store, own, isTransformed ? () => transformed(request, COMPACT, asked) : undefined)
  // What is made of each item, and protobuf, has its names translated one by one.
  const list = isTransformed || !isText(format) ? own : await shownAs(store, own, naming)
  const size = await sizeOf(list.entries)
  const shown = { ...asked, list, naming, keep: size <= MAX_KEPT_BYTES }
  const parts = isTransformed ? transformed(request, format, shown) : format.list(shown)
  if (size < LARGE_BYTES) sendWhole(request, reply, format.type, await joinedParts(parts))
  else await sendPieces(request, reply, format.type, { pieces: chunked(parts) })
}

async function writeJoined (
  request: FastifyRequest, reply: FastifyReply, store: ResourceStore, found: ObjectList
): Promise<void> {
  const { naming } = request.orch
  const joined = await joinedList(store, found, naming, viewOf(store, naming))
  if (joined.length < LARGE_BYTES) sendWhole(request, reply, COMPACT.type, joined.whole())
  else await sendPieces(request, reply, COMPACT.type, { pieces: joined.pieces(), length: joined.length })
}

/** Undefined if what is stored is what is asked for. */
function viewOf (store: ResourceStore, naming: Naming): LeafView | undefined {
  const { representation: { apiVersion, conversion } } = store
  if (!naming.renames && conversion === undefined) return undefined
  return { key: apiVersion + naming.id, show: entry => shownEntry(store, naming, store.toVersion(entry)) }
}

/** @throws StatusError 400 */
function transformed ({ orch: { accept, query } }: FastifyRequest, format: Format, shown: ShownList): Iterable<Part> {
  const { as, asVersion = '' } = accept ?? {}
  return as === 'Table'
    ? tableList(isText(format) ? format : COMPACT, shown, asVersion, includeObject(query))
    : metadataList(format, shown, asVersion)
}

async function joinedParts (parts: Iterable<Part>): Promise<Buffer> {
  const whole: Uint8Array[] = []
  for (const part of parts) {
    whole.push(Buffer.from(part instanceof Promise ? await part : part)) // copy: the next part may reuse the memory
    if (turnIsOver()) await nextTurn()
  }
  return Buffer.concat(whole)
}

/** The entries in the version that is asked for, under these names. Yields to the event loop. */
async function shownAs (store: ResourceStore, list: ObjectList, naming: Naming): Promise<ObjectList> {
  if (!naming.renames && store.representation.conversion === undefined) return list
  const { leaves: _, ...rest } = list
  const entries: Entry[] = []
  for (const entry of list.entries) {
    entries.push(shownEntry(store, naming, store.toVersion(entry)))
    if (turnIsOver()) await nextTurn()
  }
  return { ...rest, entries }
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
