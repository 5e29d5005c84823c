/** One function around each verb turns its answer into bytes or a body, and sends them. No hook sees an answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLarge, runStepsYielding } from '../event-loop/turns.js'
import { partialMetadata } from '../schemas/codec/encodings.js'
import { stringify } from '../schemas/codec/json/exact.js'
import type { Message } from '../schemas/language/declare.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'
import type { ApiObject } from '../schemas/resource.js'
import type { Tabular } from '../schemas/table.js'
import { PartialObjectMetadata } from '../schemas/meta/answers.js'
import { PROTOBUF_TYPE } from '../schemas/media-types.js'
import { finish, type Steps } from '../schemas/steps.js'
import { refuseToShow } from '../registry/outgrown.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Answer, EntryAnswer, ObjectAnswer, StatusAnswer, Verb, WatchAnswer } from './answer.js'
import { formatOf, textFormatOf } from './formats/choice.js'
import { askerOf, type Format } from './formats/format.js'
import { metadataOnly } from './formats/metadata.js'
import { includeObject, rowForm, tableOf } from './formats/table.js'
import { writtenByThread } from './formats/text.js'
import { warn } from './heads.js'
import { sendList } from './list.js'
import { recordEntry, recordObject, recordValue } from './record.js'
import { fail, sendWhole } from './send-bytes.js'
import { sendWatch, type WatchTools } from './watch/body.js'

/** @returns a handler that sends what the verb answers */
export function answering (
  tools: WatchTools
): (verb: Verb) => (request: FastifyRequest, reply: FastifyReply) => undefined {
  return verb => (request, reply) => {
    const answer = verb(request)
    const send = (made: Answer): Promise<void> | undefined =>
      made.kind === 'watch' ? sendWatch(request, reply, made, tools) : sendAnswer(request, reply, made)
    const sent = answer instanceof Promise ? answer.then(send) : send(answer)
    sent?.catch((error: unknown) => { fail(request, reply, error) })
    return undefined
  }
}

/** A promise where bytes take a while to make. */
export function sendAnswer (
  request: FastifyRequest, reply: FastifyReply, answer: Exclude<Answer, WatchAnswer>
): Promise<void> | undefined {
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
  request: FastifyRequest, reply: FastifyReply, { store, entry }: EntryAnswer
): Promise<void> | undefined {
  const { orch } = request
  const { accept } = orch
  const own = store.toVersion(entry)
  const { protobuf, apiVersion } = store.representation
  if (!protobuf && accept?.as === undefined && request.method === 'GET') refuseToShow(own, apiVersion)
  if (accept?.as !== undefined) {
    const { json: { length: bytes } } = own
    return sendTransformed(request, reply, { store, tabular: store.representation, bytes, read: () => own.object })
  }
  recordEntry(orch, own)
  const format = formatOf(accept)
  const bytes = format.entry({ store, naming: orch.naming, asker: () => askerOf(orch) }, own)
  if (!(bytes instanceof Promise)) return sendWhole(request, reply, format.type, bytes)
  return bytes.then(made => sendWhole(request, reply, format.type, made))
}

/** Sends an object that is not stored, in a form that it has. */
function sendObject (
  request: FastifyRequest, reply: FastifyReply, { message, object, forms }: ObjectAnswer
): Promise<void> | undefined {
  const { accept } = request.orch
  if (accept?.as === undefined || forms === undefined) return sendMessage(request, reply, message, object)
  if (forms !== 'metadata') return sendTransformed(request, reply, { ...forms, read: () => object as ApiObject })
  if (accept.as !== 'PartialObjectMetadata') return sendMessage(request, reply, message, object)
  return sendMessage(request, reply, PartialObjectMetadata, partialMetadata(object as ApiObject, accept.asVersion))
}

function sendMessage<T extends object> (
  request: FastifyRequest, reply: FastifyReply, message: Message<T>, object: T
): undefined {
  const { orch } = request
  recordObject(orch, message, object)
  const format = formatOf(orch.accept)
  sendWhole(request, reply, format.type, format.object(orch.naming, message, object))
}

interface Transformable {
  readonly store: ResourceStore
  readonly tabular: Tabular
  /** Of its JSON. */
  readonly bytes: number
  readonly read: () => ApiObject
}

/** Sends a Table or metadata of an object; of a large one in steps. */
function sendTransformed (
  request: FastifyRequest, reply: FastifyReply, { store, tabular, bytes, read }: Transformable
): Promise<void> | undefined {
  const { orch } = request
  const { accept, naming } = orch
  const { as, asVersion: version = '' } = accept ?? {}
  const make = function * (naming: Naming, format: Format): Steps<object | Buffer> {
    const object = read()
    yield
    if (as !== 'Table') return yield * metadataOnly(tabular, object, format, { naming, version })
    const include = includeObject(orch.query)
    return yield * tableOf(tabular, object, rowForm(store, { include, version, naming }))
  }
  const text = textFormatOf(accept)
  const send = (made: object | Buffer): Promise<void> | undefined => {
    if (Buffer.isBuffer(made)) return sendWhole(request, reply, PROTOBUF_TYPE, made)
    recordValue(orch, naming.renames ? () => finish(make(OWN_NAMES, text)) : () => made)
    const { slow } = text
    if (slow === undefined || !isLarge(bytes)) return sendWhole(request, reply, text.type, text.document(made))
    return writtenByThread(Buffer.from(stringify(made) ?? ''), slow, () => askerOf(orch))
      .then(written => sendWhole(request, reply, text.type, written))
  }
  const steps = make(naming, formatOf(accept))
  return isLarge(bytes) ? runStepsYielding(steps).then(send) : send(finish(steps))
}

/** Sends a plain value: JSON or YAML. */
export function sendValue (request: FastifyRequest, reply: FastifyReply, value: object): void {
  recordValue(request.orch, () => value)
  const format = textFormatOf(request.orch.accept)
  sendWhole(request, reply, format.type, format.document(request.orch.naming.document(value)))
}

function sendStatus (request: FastifyRequest, reply: FastifyReply, { status }: StatusAnswer): undefined {
  const { orch } = request
  orch.recorder?.status(status)
  const format = formatOf(orch.accept)
  sendWhole(request, reply, format.type, format.status(orch.naming.status(status)))
}
