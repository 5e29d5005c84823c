/** How a failure is sent: a Status in the format that the client asks for. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { OWN_NAMES } from '../schemas/naming.js'
import type { StatusError } from '../schemas/status.js'
import { formatOf } from './formats/choice.js'
import { warn } from './heads.js'
import type { Negotiated } from './request-context.js'

const NEWLINE = Buffer.from('\n')

export interface WrittenFailure { readonly type: string, readonly bytes: Buffer }

/** @param accept what the client asks for, as far as that is known */
export function writtenFailure (
  { status }: StatusError, request: FastifyRequest, accept: Negotiated | undefined
): WrittenFailure {
  const { naming = OWN_NAMES } = request.orch ?? {}
  const format = formatOf(accept)
  const bytes = format.status(naming.status(status))
  return {
    type: naming.mediaType(format.type),
    bytes: accept?.format === 'json' && accept.pretty ? Buffer.concat([bytes, NEWLINE]) : bytes
  }
}

export function sendFailure (
  failure: StatusError, request: FastifyRequest, reply: FastifyReply, { type, bytes }: WrittenFailure
): FastifyReply {
  const context = request.orch
  for (const [name, value] of Object.entries(failure.headers)) reply.header(name, value)
  if (context !== undefined) warn(reply, context.warnings, context.naming)
  reply.code(failure.status.code)
  reply.removeHeader('content-encoding') // of an answer that could not be sent
  context?.recorder?.status(failure.status)
  // HTTP/2 forbids this header; Fastify sets it when it does not read a body.
  if ('stream' in request.raw) reply.removeHeader('connection')
  return reply.type(type).send(bytes)
}
