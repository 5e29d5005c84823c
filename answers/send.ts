/** One function around each verb turns its answer into bytes or a body, and sends them. No hook sees an answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HTML_TYPE } from '../schemas/media-types.js'
import type { Entry } from '../storage/cache/entry.js'
import { refuseToShow } from '../registry/outgrown.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type {
  Answer, DocumentAnswer, EntryAnswer, ObjectAnswer, PageAnswer, StatusAnswer, ValueAnswer, Verb, WatchAnswer
} from './answer.js'
import { formOf, formOfObject, textFormOf, wholeFormOf } from './formats/choice.js'
import { askerOf, type ShownEntry } from './formats/format.js'
import { COMPACT } from './formats/json.js'
import { warn } from './heads.js'
import { sendList } from './list.js'
import { formsOf } from './large-forms.js'
import { recordEntry, recordJson, recordObject } from './record.js'
import { sendRelayed } from './relayed.js'
import { served, type ServedRequest } from './request-context.js'
import { fail, sendWhole } from './send-bytes.js'
import { ownViewOf, storedViewOf } from './stored-view.js'
import { viewOf } from './view.js'
import { sendWatch, type WatchTools } from './watch/body.js'

type FiniteAnswer = Exclude<Answer, WatchAnswer>
type Send<T extends Answer> = (request: ServedRequest, reply: FastifyReply, answer: T) => Promise<void> | undefined

/** Those that connect to other servers need all of the request. */
export type AnyVerb = (request: ServedRequest) => ReturnType<Verb>

/** @returns a function that runs a verb and sends what it answers. It throws what the verb throws at once */
export function answering (
  tools: WatchTools
): (request: ServedRequest, reply: FastifyReply, verb: AnyVerb) => undefined {
  const send: Send<Answer> = (request, reply, answer) =>
    answer.kind === 'watch' ? sendWatch(request, reply, answer, tools) : sendAnswer(request, reply, answer)
  return (request, reply, verb) => sendWith(send, request, reply, verb(request))
}

/** The handler of a route that no watch is asked of, such as of a document. */
export const answered = <T extends FiniteAnswer>(
  answer: (request: ServedRequest) => T | Promise<T>
): (request: FastifyRequest, reply: FastifyReply) => undefined => (arrived, reply) => {
  const request = served(arrived)
  return sendWith(sendAnswer, request, reply, answer(request))
}

function sendWith<T extends Answer> (
  send: Send<T>, request: ServedRequest, reply: FastifyReply, answer: T | Promise<T>
): undefined {
  const sent = answer instanceof Promise
    ? answer.then(value => send(request, reply, value))
    : send(request, reply, answer)
  sent?.catch((error: unknown) => { fail(request, reply, error) })
  return undefined
}

/** A promise where bytes take a while to make. */
export function sendAnswer (
  request: ServedRequest, reply: FastifyReply, answer: FiniteAnswer
): Promise<void> | undefined {
  if (answer.kind === 'passed' || answer.kind === 'upgrade') return sendRelayed(request, reply, answer)
  if ('warnings' in answer) warn(reply, answer.warnings, request.orch)
  if ('code' in answer && answer.code !== 200) reply.code(answer.code)
  switch (answer.kind) {
    case 'entry': return sendEntry(request, reply, answer)
    case 'object': return sendObject(request, reply, answer)
    case 'list': return sendList(request, reply, answer)
    case 'status': return sendStatus(request, reply, answer)
    case 'value': return sendValue(request, reply, answer)
    case 'document': return sendDocument(request, reply, answer)
    case 'page': return sendPage(request, reply, answer)
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

function sendValue (request: ServedRequest, reply: FastifyReply, { value }: ValueAnswer): undefined {
  const { orch } = request
  recordJson(orch, () => COMPACT.document(value))
  const form = textFormOf(orch.accept)
  sendWhole(request, reply, form.type, form.document(viewOf(orch).document(value)))
}

function sendDocument ({ orch }: ServedRequest, reply: FastifyReply, answer: DocumentAnswer): undefined {
  const { headers, bytes, recorded } = answer
  if (recorded !== undefined) recordJson(orch, () => recorded)
  void reply.headers(headers).send(bytes)
}

function sendPage (request: ServedRequest, reply: FastifyReply, { html, policy }: PageAnswer): undefined {
  reply.header('content-security-policy', policy)
  sendWhole(request, reply, `${HTML_TYPE}; charset=utf-8`, Buffer.from(html))
}

function sendStatus (request: ServedRequest, reply: FastifyReply, { status }: StatusAnswer): undefined {
  const { orch } = request
  orch.recorder?.status(status)
  const form = wholeFormOf(orch.accept)
  sendWhole(request, reply, form.type, form.status(viewOf(orch).status(status)))
}
