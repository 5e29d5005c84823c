/** Sends lists: short ones whole, others in pieces, each made when it is sent. */
import type { FastifyReply } from 'fastify'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { OWN_NAMES } from '../schemas/naming.js'
import { finish, type Steps } from '../schemas/steps.js'
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { withSpan } from '../registry/trace.js'
import type { ListAnswer, ObjectList } from './answer.js'
import { chunked } from './chunks.js'
import { formatOf } from './formats/choice.js'
import { askerOf, isText, type Format, type Part, type Parts, type ShownList } from './formats/format.js'
import { COMPACT, joinedList } from './formats/json.js'
import { metadataList } from './formats/metadata.js'
import { includeObject, tableList } from './formats/table.js'
import { LARGE_BYTES } from './heads.js'
import { sizeOf } from './list-bytes.js'
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
  const isTransformed = accept?.as !== undefined
  const own: ShownList = { view: viewOf(store, OWN_NAMES), list, asker: () => askerOf(orch) }
  const inForm = (): Iterable<Part> => finish(transformed(request, COMPACT, own)).parts
  await recordList(orch, own.view, list, isTransformed ? inForm : undefined)
  const shown = { ...own, view: viewOf(store, naming) }
  if (format === COMPACT && !isTransformed) return await writeJoined(request, reply, shown)
  const steps = isTransformed ? transformed(request, format, shown) : format.list(shown)
  const { parts, length } = await finished(steps)
  if (await sizeOf(list.entries) < LARGE_BYTES) sendWhole(request, reply, format.type, await joinedParts(parts))
  else {
    await sendPieces(request, reply, format.type, {
      pieces: chunked(parts), ...(length === undefined ? {} : { length })
    })
  }
}

async function writeJoined (request: ServedRequest, reply: FastifyReply, { view, list }: ShownList): Promise<void> {
  const joined = await joinedList(view, list)
  if (joined.length < LARGE_BYTES) sendWhole(request, reply, COMPACT.type, joined.whole())
  else await sendPieces(request, reply, COMPACT.type, { pieces: joined.pieces(), length: joined.length })
}

/** @throws StatusError 400 */
function transformed ({ orch: { accept, query } }: ServedRequest, format: Format, shown: ShownList): Steps<Parts> {
  const { as, asVersion = '' } = accept ?? {}
  return as === 'Table'
    ? tableList(isText(format) ? format : COMPACT, shown, asVersion, includeObject(query))
    : metadataList(format, shown, asVersion)
}

/** Yields to the event loop. */
async function finished<T> (steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (turnIsOver()) await nextTurn()
  }
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
