/** One function around each verb turns its answer into bytes or a body, and sends them. No hook sees an answer. */
import type { FastifyReply } from 'fastify'
import { isLarge, runStepsYielding } from '../event-loop/turns.js'
import { partialMetadata } from '../schemas/codec/encodings.js'
import type { Message } from '../schemas/language/declare.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import { PartialObjectMetadata } from '../schemas/meta/answers.js'
import { finish } from '../schemas/steps.js'
import type { Entry } from '../storage/cache/entry.js'
import { refuseToShow } from '../registry/outgrown.js'
import type { Answer, EntryAnswer, ObjectAnswer, StatusAnswer, TabularForm, Verb, WatchAnswer } from './answer.js'
import { formatOf, textFormatOf } from './formats/choice.js'
import { askerOf, shownObject, type Format, type ShownEntry } from './formats/format.js'
import { metadataEntry, metadataJson } from './formats/metadata.js'
import { includeObject, rowForm, tableJson, tableOf } from './formats/table.js'
import { textOf } from './formats/text.js'
import { warn } from './heads.js'
import { sendList } from './list.js'
import { formsOf } from './large-forms.js'
import { recordJson, recordObject, recordValue } from './record.js'
import { sendRelayed } from './relayed.js'
import type { ServedRequest } from './request-context.js'
import { fail, sendWhole } from './send-bytes.js'
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
  warn(reply, answer.warnings, request.orch.naming)
  if ('code' in answer && answer.code !== 200) reply.code(answer.code)
  switch (answer.kind) {
    case 'entry': return sendEntry(request, reply, answer)
    case 'object': return sendObject(request, reply, answer)
    case 'list': return sendList(request, reply, answer)
    case 'status': return sendStatus(request, reply, answer)
  }
}

/** Sends a stored object. */
function sendEntry (
  request: ServedRequest, reply: FastifyReply, { store, entry }: EntryAnswer
): Promise<void> | undefined {
  const { orch } = request
  const { accept, naming } = orch
  const shown: ShownEntry = { view: viewOf(store, naming), asker: () => askerOf(orch) }
  if (accept?.as === 'Table') return sendTable(request, reply, shown, entry)
  const shape = { protobuf: accept?.format === 'protobuf', metadata: accept?.as !== undefined }
  const missing = formsOf(shown.view, [entry], shape)
  return missing === undefined
    ? sendShown(request, reply, shown, { store, entry })
    : missing.then(() => sendShown(request, reply, shown, { store, entry }))
}

function sendShown (
  request: ServedRequest, reply: FastifyReply, shown: ShownEntry, { store, entry }: Pick<EntryAnswer, 'store' | 'entry'>
): Promise<void> | undefined {
  const { orch } = request
  const { accept } = orch
  const own = viewOf(store, OWN_NAMES)
  if (accept?.as !== undefined) { // clients ask for a list even where they get one object
    const { asVersion } = accept
    recordJson(orch, () => metadataJson(own, entry, asVersion))
    const format = formatOf(accept)
    return sendMade(request, reply, format, metadataEntry(format, shown, entry, asVersion))
  }
  const { protobuf, apiVersion } = store.representation
  if (!protobuf && request.method === 'GET') refuseToShow(own.entry(entry), apiVersion)
  recordJson(orch, () => own.entry(entry).json)
  const format = formatOf(accept)
  return sendMade(request, reply, format, format.entry(shown, entry))
}

/** Of a large object, in steps. */
function sendTable (
  request: ServedRequest, reply: FastifyReply, { view, asker }: ShownEntry, entry: Entry
): Promise<void> | undefined {
  const { orch } = request
  const form = rowForm(view, { include: includeObject(orch.query), version: orch.accept?.asVersion ?? '' })
  const format = textFormatOf(orch.accept)
  const send = (json: Buffer): Promise<void> | undefined => {
    recordJson(orch, () => view.naming.renames ? finish(tableJson(viewOf(view.store, OWN_NAMES), entry, form)) : json)
    return sendMade(request, reply, format, textOf(format, json, asker))
  }
  const steps = tableJson(view, entry, form)
  return isLarge(entry.json.length) ? runStepsYielding(steps).then(send) : send(finish(steps))
}

function sendMade (
  request: ServedRequest, reply: FastifyReply, { type }: Format, bytes: Buffer | Promise<Buffer>
): Promise<void> | undefined {
  if (!(bytes instanceof Promise)) return sendWhole(request, reply, type, bytes)
  return bytes.then(bytes => sendWhole(request, reply, type, bytes))
}

/** Sends an object that is not stored, in a form that it has. */
function sendObject (request: ServedRequest, reply: FastifyReply, answer: ObjectAnswer): Promise<void> | undefined {
  const { object, forms } = answer
  const { accept } = request.orch
  if (accept?.as === undefined || forms === undefined) return sendMessage(request, reply, answer)
  if (forms !== 'metadata') return sendTransformed(request, reply, forms, object as ApiObject)
  if (accept.as !== 'PartialObjectMetadata') return sendMessage(request, reply, answer)
  return sendMessage(request, reply, {
    ...answer,
    message: PartialObjectMetadata as Message<object>,
    object: partialMetadata(object as ApiObject, accept.asVersion)
  })
}

function sendMessage (
  request: ServedRequest, reply: FastifyReply, { message, object, omitsUnsetTimes }: ObjectAnswer
): undefined {
  const { orch } = request
  recordObject(orch, message, object, omitsUnsetTimes)
  const format = formatOf(orch.accept)
  sendWhole(request, reply, format.type, format.object(orch.naming, message, object, omitsUnsetTimes))
}

/** Sends a Table or metadata of an object that is not stored. */
function sendTransformed (
  request: ServedRequest, reply: FastifyReply, { store, tabular }: TabularForm, own: ApiObject
): undefined {
  const { accept, naming, query } = request.orch
  const { as, asVersion: version = '' } = accept ?? {}
  if (as !== 'Table') {
    const partial = (names: Naming): object => partialMetadata(shownObject(names, tabular.message, own), version)
    recordValue(request.orch, () => partial(OWN_NAMES))
    const format = formatOf(accept)
    const bytes = format.object(OWN_NAMES, PartialObjectMetadata as Message<object>, partial(naming))
    return sendWhole(request, reply, format.type, bytes)
  }
  const form = rowForm(viewOf(store, naming), { include: includeObject(query), version })
  recordValue(request.orch, () => tableOf(tabular, own, OWN_NAMES, form))
  const format = textFormatOf(accept)
  sendWhole(request, reply, format.type, format.document(tableOf(tabular, own, naming, form)))
}

/** Sends a plain value: JSON or YAML. */
export function sendValue (request: ServedRequest, reply: FastifyReply, value: object): void {
  recordValue(request.orch, () => value)
  const format = textFormatOf(request.orch.accept)
  sendWhole(request, reply, format.type, format.document(request.orch.naming.document(value)))
}

function sendStatus (request: ServedRequest, reply: FastifyReply, { status }: StatusAnswer): undefined {
  const { orch } = request
  orch.recorder?.status(status)
  const format = formatOf(orch.accept)
  sendWhole(request, reply, format.type, format.status(orch.naming.status(status)))
}
