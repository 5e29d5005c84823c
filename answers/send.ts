/** One function around each verb turns its answer into bytes or a body, and sends them. No hook sees an answer. */
import type { FastifyReply } from 'fastify'
import type { Entry } from '../storage/cache/entry.js'
import { refuseToShow } from '../registry/outgrown.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Answer, EntryAnswer, ObjectAnswer, StatusAnswer, Verb, WatchAnswer } from './answer.js'
import { formOf, formOfObject, textFormOf, wholeFormOf } from './formats/choice.js'
import { askerOf, type ShownEntry } from './formats/format.js'
import { COMPACT } from './formats/json.js'
import { warn } from './heads.js'
import { sendList } from './list.js'
import { formsOf } from './large-forms.js'
import { recordEntry, recordJson, recordObject } from './record.js'
import { sendRelayed } from './relayed.js'
import type { ServedRequest } from './request-context.js'
import { fail, sendWhole } from './send-bytes.js'
import { ownViewOf, storedViewOf } from './stored-view.js'
import { viewOf } from './view.js'
import { sendWatch, type WatchTools } from './watch/body.js'

type FiniteAnswer = Exclude<Answer, WatchAnswer>

/** @returns a handler that sends what the verb answers */
export function answering (
  tools: WatchTools
): (verb: AnyVerb) => (request: ServedRequest, reply: FastifyReply) => undefined {
  return verb => (request, reply) => {
    const answer = verb(request)
    const send = (value: Answer): Promise<void> | undefined =>
      value.kind === 'watch' ? sendWatch(request, reply, value, tools) : sendAnswer(request, reply, value)
    const sent = answer instanceof Promise ? answer.then(send) : send(answer)
    sent?.catch((error: unknown) => { fail(request, reply, error) })
    return undefined
  }
}

/** Those that connect to other servers need all of the request. */
type AnyVerb = (request: ServedRequest) => ReturnType<Verb>

/** Sends what another server is about to answer. */
export function sendLater (request: ServedRequest, reply: FastifyReply, answer: Promise<FiniteAnswer>): FastifyReply {
  answer.then(value => sendAnswer(request, reply, value)).catch((error: unknown) => { fail(request, reply, error) })
  return reply
}

/** A promise where bytes take a while to make. */
export function sendAnswer (
  request: ServedRequest, reply: FastifyReply, answer: FiniteAnswer
): Promise<void> | undefined {
  if (answer.kind === 'passed' || answer.kind === 'upgrade') return sendRelayed(request, reply, answer)
  warn(reply, answer.warnings, request.orch)
  if ('code' in answer && answer.code !== 200) reply.code(answer.code)
  switch (answer.kind) {
    case 'entry': return sendEntry(request, reply, answer)
    case 'object': return sendObject(request, reply, answer)
    case 'list': return sendList(request, reply, answer)
    case 'status': return sendStatus(request, reply, answer)
  }
}

/** Sends a stored object. Forms of a large one are made before. */
function sendEntry (
  request: ServedRequest, reply: FastifyReply, { store, entry }: EntryAnswer
): Promise<void> | undefined {
  const { orch } = request
  const form = formOf(orch)
  const shown: ShownEntry = { view: storedViewOf(store, orch), asker: () => askerOf(orch) }
  const send = (): Promise<void> | undefined => {
    if (form.shape?.metadata === false && request.method === 'GET') refuseOutgrown(store, entry)
    const recorded = recordEntry(orch, store, entry)
    return recorded === undefined ? sendMade() : recorded.then(sendMade)
  }
  const sendMade = (): Promise<void> | undefined => {
    const made = form.entry(shown, entry)
    if (!(made instanceof Promise)) return sendWhole(request, reply, form.type, made)
    return made.then(bytes => { sendWhole(request, reply, form.type, bytes) })
  }
  const missing = form.shape === undefined ? undefined : formsOf(shown.view, [entry], form.shape)
  return missing === undefined ? send() : missing.then(send)
}

/** @throws StatusError 413 */
function refuseOutgrown (store: ResourceStore, entry: Entry): void {
  const { protobuf, apiVersion } = store.representation
  if (!protobuf) refuseToShow(ownViewOf(store).entry(entry), apiVersion)
}

/** Sends an object that is not stored. */
function sendObject (request: ServedRequest, reply: FastifyReply, answer: ObjectAnswer): undefined {
  const { orch } = request
  const form = formOfObject(orch, answer)
  recordObject(orch, answer)
  sendWhole(request, reply, form.type, form.object(viewOf(orch), answer))
}

/** Sends a plain value: JSON or YAML. */
export function sendValue (request: ServedRequest, reply: FastifyReply, value: object): void {
  const { orch } = request
  recordJson(orch, () => COMPACT.document(value))
  const form = textFormOf(orch.accept)
  sendWhole(request, reply, form.type, form.document(viewOf(orch).document(value)))
}

function sendStatus (request: ServedRequest, reply: FastifyReply, { status }: StatusAnswer): undefined {
  const { orch } = request
  orch.recorder?.status(status)
  const form = wholeFormOf(orch.accept)
  sendWhole(request, reply, form.type, form.status(viewOf(orch).status(status)))
}
