/** How answers leave: an object in the negotiated form, with its warnings. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { statusToProtobuf, toYaml } from '../schemas/encodings.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import type { Status } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import type { ResourceStore } from '../storage/resource-store.js'
import { sendBytes } from './stream.js'
import { transformed } from './transform.js'

const MOST_WARNING_LENGTH = 300

/** Warning headers (RFC 7234, code 299). */
export function warn (request: FastifyRequest, reply: FastifyReply): void {
  const { warnings } = request.orch
  if (warnings.length === 0) return
  reply.header('warning', warnings.map(text => `299 - "${headerText(text)}"`))
}

/** Printable ASCII with quotes escaped: names of unknown fields are the client's own text. */
function headerText (text: string): string {
  return text.slice(0, MOST_WARNING_LENGTH).replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')
}

/** One object. */
export function sendEntry (request: FastifyRequest, reply: FastifyReply, store: ResourceStore, entry: Entry, code = 200): FastifyReply {
  const { accept } = request.orch
  if (request.orch.warnings.length > 0) warn(request, reply)
  if (code !== 200) reply.code(code)
  if (accept === undefined || (accept.format === 'json' && accept.as === undefined && !accept.pretty)) {
    return sendBytes(request, reply, JSON_TYPE, entry.json)
  }
  if (accept.as !== undefined) return sendValue(request, reply, transformed(request, store, accept, entry), code)
  if (accept.format === 'protobuf') {
    return sendBytes(request, reply, PROTOBUF_TYPE, store.protobuf(entry))
  }
  return sendValue(request, reply, entry.object, code)
}

/** A plain value that has no stored bytes: JSON or YAML, or protobuf where the caller made it. */
export function sendValue (request: FastifyRequest, reply: FastifyReply, value: object | Buffer, code = 200): FastifyReply {
  const { accept } = request.orch
  reply.code(code)
  if (Buffer.isBuffer(value)) return sendBytes(request, reply, PROTOBUF_TYPE, value)
  if (accept?.format === 'yaml') return sendBytes(request, reply, YAML_TYPE, Buffer.from(toYaml(value)))
  return sendBytes(request, reply, JSON_TYPE, Buffer.from(accept?.pretty === true ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`))
}

export function sendStatus (request: FastifyRequest, reply: FastifyReply, status: Omit<Status, 'code'> & { code?: number }, code = 200): FastifyReply {
  warn(request, reply)
  const { accept } = request.orch
  return sendValue(request, reply, accept?.format === 'protobuf' ? statusToProtobuf(status) : status, code)
}
