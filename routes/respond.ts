/** Sends objects in the negotiated format, with their warnings. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { translateDecoded, translateJson, publicStatus } from '../schemas/compat/objects.js'
import { publicWords } from '../schemas/compat/sentences.js'
import { partialMetadata, statusToProtobuf, toYaml } from '../schemas/codec/encodings.js'
import { rawJson } from '../schemas/codec/json/escape.js'
import {
  encodeProtobuf, parseExactly, writeText, stringify, toJson, type ApiObject, type Message, type Tabular
} from '../schemas/index.js'
import { clone } from '../schemas/language/values.js'
import { PartialObjectMetadata } from '../schemas/meta/answers.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import type { Status } from '../schemas/status.js'
import { finish, type Steps } from '../schemas/steps.js'
import { warningHeaders } from '../schemas/warnings.js'
import type { Entry } from '../storage/cache/entry.js'
import type { Answer, ObjectAnswer, Verb } from '../answers/answer.js'
import { publicEntry } from '../registry/public-entry.js'
import { refuseToShow } from '../registry/outgrown.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { isLarge, runStepsYielding } from '../event-loop/turns.js'
import { askerOf } from './body.js'
import { sendBytes } from './stream.js'
import { sendList } from './send-list.js'
import { sendWatch, type WatchTools } from './send-watch.js'
import { transformed } from './transform.js'

/** Sets Warning headers (RFC 7234, code 299). */
function warn (request: FastifyRequest, reply: FastifyReply): void {
  const { warnings, publicNames } = request.orch
  if (warnings.length > 0) reply.header('warning', warningHeaders(publicNames ? warnings.map(publicWords) : warnings))
}

/** @returns a handler that sends what the verb answers */
export function answering (tools: WatchTools): (verb: Verb) => (request: FastifyRequest, reply: FastifyReply) => undefined {
  return verb => (request, reply) => {
    const answer = verb(request)
    if (answer instanceof Promise) answer.then(made => sendAnswer(request, reply, made, tools)).catch(refusing(request, reply))
    else sendAnswer(request, reply, answer, tools)?.catch(refusing(request, reply))
    return undefined
  }
}

const refusing = (request: FastifyRequest, reply: FastifyReply) => (error: unknown): void => {
  if (reply.sent) request.log.error({ err: error }, 'a request failed after it was answered')
  else void reply.send(error)
}

/** Sends an answer; lists take a while. */
function sendAnswer (request: FastifyRequest, reply: FastifyReply, answer: Answer, tools: WatchTools): Promise<void> | undefined {
  switch (answer.kind) {
    case 'entry': sendEntry(request, reply, answer.store, answer.entry, answer.code); break
    case 'object': sendObject(request, reply, answer); break
    case 'list': warn(request, reply); return sendList(request, reply, answer)
    case 'watch': warn(request, reply); sendWatch(request, reply, answer, tools); break
    case 'status': sendStatus(request, reply, answer.status, answer.code)
  }
  return undefined
}

/** Sends a stored object. */
export function sendEntry (request: FastifyRequest, reply: FastifyReply, store: ResourceStore, stored: Entry, code = 200): FastifyReply {
  const own = store.toVersion(stored)
  const { accept, recorder, publicNames } = request.orch
  const { protobuf, apiVersion } = store.representation
  if (!protobuf && accept?.as === undefined && request.method === 'GET') refuseToShow(own, apiVersion)
  if (request.orch.warnings.length > 0) warn(request, reply)
  if (code !== 200) reply.code(code)
  if (accept?.as !== undefined) {
    const { json: { length: bytes } } = own
    return sendTransformed(request, reply, { tabular: store.representation, bytes, read: () => own.object, code })
  }
  const entry = publicNames ? publicEntry(store, own) : own
  if (accept === undefined || (accept.format === 'json' && !accept.pretty)) {
    if (recorder !== undefined) recorder.response(() => own.json.toString())
    return sendBytes(request, reply, JSON_TYPE, entry.json)
  }
  if (accept.format === 'protobuf') {
    if (recorder !== undefined) recorder.response(() => own.json.toString())
    return sendBytes(request, reply, PROTOBUF_TYPE, store.protobuf(entry))
  }
  if (isLarge(entry.json.length)) return sendWrittenByThread(request, reply, entry.json, own.json)
  return sendValue(request, reply, entry.object, code, () => own.object)
}

interface Transformable {
  readonly tabular: Tabular
  /** Of its JSON. */
  readonly bytes: number
  readonly read: () => ApiObject
  readonly code?: number
}

/** Sends a Table or metadata of an object; of a large one in steps. */
function sendTransformed (request: FastifyRequest, reply: FastifyReply, shown: Transformable): FastifyReply {
  const { tabular, bytes, read, code = 200 } = shown
  const { accept, publicNames } = request.orch
  if (accept === undefined) throw new TypeError('no form is requested')
  const ownForm = (): object => finish(transformed(request, tabular, { ...accept, format: 'json' }, read(), false))
  const send = (made: object | Buffer): void => {
    const isSlowToWrite = isLarge(bytes) && (accept.pretty || accept.format === 'yaml')
    if (isSlowToWrite && !Buffer.isBuffer(made)) sendWrittenByThread(request, reply, Buffer.from(stringify(made) ?? ''))
    else sendValue(request, reply, made, code, publicNames ? ownForm : undefined)
  }
  const steps = function * (): Steps<object | Buffer> {
    const object = read()
    yield
    return yield * transformed(request, tabular, accept, object)
  }
  if (!isLarge(bytes)) send(finish(steps()))
  else runStepsYielding(steps()).then(send).catch(failing(request, reply))
  return reply
}

/** Reports an error that occurs after the handler has returned. */
const failing = (request: FastifyRequest, reply: FastifyReply) => (error: unknown): void => {
  if (!request.orch.signal.aborted && !reply.sent) void reply.send(error)
}

/** Converts a large object to YAML or indented JSON in a worker thread. @param json compact @param own what is recorded */
function sendWrittenByThread (request: FastifyRequest, reply: FastifyReply, json: Buffer, own = json): FastifyReply {
  const yaml = request.orch.accept?.format === 'yaml'
  request.orch.recorder?.response(() => own.toString())
  writeText(json, { format: yaml ? 'yaml' : 'indented', item: false }, askerOf(request))
    .then(text => { sendBytes(request, reply, yaml ? YAML_TYPE : JSON_TYPE, Buffer.from(text.buffer, text.byteOffset, text.byteLength)) })
    .catch(failing(request, reply))
  return reply
}

/** Sends an object that is not stored, in a form that it has. */
function sendObject (request: FastifyRequest, reply: FastifyReply, { message, object, code, forms }: ObjectAnswer): FastifyReply {
  const { accept } = request.orch
  warn(request, reply)
  if (accept?.as === undefined || forms === undefined) return sendMessage(request, reply, message, object, code)
  if (forms !== 'metadata') return sendTransformed(request, reply, { ...forms, read: () => object as ApiObject, code })
  if (accept.as !== 'PartialObjectMetadata') return sendMessage(request, reply, message, object, code)
  return sendMessage(request, reply, PartialObjectMetadata, partialMetadata(object as ApiObject, accept.asVersion), code)
}

function sendMessage<T extends object> (request: FastifyRequest, reply: FastifyReply, message: Message<T>, object: T, code: number): FastifyReply {
  const { accept, recorder, publicNames } = request.orch
  if (recorder !== undefined) recorder.response(() => toJson(message, object))
  if (accept?.format === 'protobuf') return sendValue(request, reply, encodeProtobuf(message, publicNames ? translateDecoded(message, clone(object)) : object), code)
  const plain = toJson(message, object)
  const json = publicNames ? rawJson(translateJson(message, parseExactly(Buffer.from(plain)))) : plain
  if (accept === undefined || (accept.format === 'json' && !accept.pretty)) return sendBytes(request, reply.code(code), JSON_TYPE, Buffer.from(`${json}\n`))
  return sendValue(request, reply, JSON.parse(json) as object, code, () => JSON.parse(plain))
}

/** Sends a plain value: JSON or YAML, or protobuf that the caller encoded. @param own what is recorded, where it has other names */
export function sendValue (request: FastifyRequest, reply: FastifyReply, value: object | Buffer, code = 200, own: () => unknown = () => value): FastifyReply {
  const { accept } = request.orch
  reply.code(code)
  if (Buffer.isBuffer(value)) return sendBytes(request, reply, PROTOBUF_TYPE, value)
  request.orch.recorder?.response(() => stringify(own()) ?? 'null')
  if (accept?.format === 'yaml') return sendBytes(request, reply, YAML_TYPE, Buffer.from(toYaml(value)))
  return sendBytes(request, reply, JSON_TYPE, Buffer.from(accept?.pretty === true ? stringify(value, 2) ?? '' : `${stringify(value)}\n`))
}

function sendStatus (request: FastifyRequest, reply: FastifyReply, status: Omit<Status, 'code'> & { code?: number }, code = 200): FastifyReply {
  warn(request, reply)
  const { accept, publicNames } = request.orch
  request.orch.recorder?.status(status)
  const shown = publicNames ? publicStatus(status) : status
  return sendValue(request, reply, accept?.format === 'protobuf' ? statusToProtobuf(shown) : shown, code)
}
