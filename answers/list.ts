/** Sends lists: short ones whole, others in pieces, each made when it is sent. */
import type { FastifyReply } from 'fastify'
import { withSpan } from '../registry/trace.js'
import type { ListAnswer } from './answer.js'
import { chunked } from './chunks.js'
import { formOf } from './formats/choice.js'
import { askerOf, isJoined, type Form, type ShownList } from './formats/format.js'
import { LARGE_BYTES } from './heads.js'
import { measure } from './list-bytes.js'
import { recordList } from './record.js'
import type { ServedRequest } from './request-context.js'
import { sendPieces, sendWhole } from './send-bytes.js'
import { storedViewOf } from './stored-view.js'
import { joinedParts, listBytes } from './whole-list.js'

/** Each item allows this many extra milliseconds before a list counts as slow. */
const ALLOWANCE_PER_ITEM_MS = 0.1

/** Resolves when it is written. @throws StatusError 400 */
export async function sendList (
  request: ServedRequest, reply: FastifyReply, { store, list: objects }: ListAnswer
): Promise<void> {
  const { orch } = request
  const { trace } = orch
  const form = formOf(orch)
  const list = form.ordered === undefined ? objects : await form.ordered(store, objects)
  const count = list.entries.length
  trace.allowance = count * ALLOWANCE_PER_ITEM_MS
  await withSpan(trace, 'SerializeObject', async () => {
    await recordList(orch, store, list)
    await writeList(request, reply, form, { view: storedViewOf(store, orch), list, asker: () => askerOf(orch) })
  }, { count })
}

async function writeList (
  request: ServedRequest, reply: FastifyReply, form: Form, shown: ShownList
): Promise<void> {
  const made = form.list(shown)
  if (!isJoined(made)) {
    const { bytes } = await measure(shown.list.entries)
    if (bytes < LARGE_BYTES) sendWhole(request, reply, form.type, await joinedParts(made))
    else await sendPieces(request, reply, form.type, { pieces: chunked(made) })
    return
  }
  const bytes = await listBytes(form, shown, made)
  if (bytes.length < LARGE_BYTES) sendWhole(request, reply, form.type, bytes.whole())
  else await sendPieces(request, reply, form.type, { pieces: bytes.pieces(), length: bytes.length })
}
