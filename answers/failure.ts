/** How a failure is sent: a Status in the format that the client asks for, or what a browser shows of it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HTML_TYPE } from '../schemas/media-types.js'
import type { StatusError } from '../schemas/status.js'
import { wholeFormOf } from './formats/choice.js'
import { warn } from './heads.js'
import { refusalPage } from './page/refusal.js'
import { POLICY } from './page/style.js'
import type { Negotiated } from './request-context.js'
import { viewOf } from './view.js'

const NEWLINE = Buffer.from('\n')

export interface WrittenFailure {
  readonly type: string
  readonly bytes: Buffer
  /** Of a page: what a browser may load. */
  readonly policy?: string
}

/** @param accept what the client asks for, as far as that is known */
export function writtenFailure (
  { status }: StatusError, request: FastifyRequest, accept: Negotiated | undefined
): WrittenFailure {
  const view = viewOf(request.orch)
  const shown = view.status(status)
  const page = accept?.page === true ? refusalPage(shown) : undefined
  if (page !== undefined) return { type: `${HTML_TYPE}; charset=utf-8`, bytes: Buffer.from(page), policy: POLICY }
  const form = wholeFormOf(accept)
  const bytes = form.status(shown)
  return {
    type: view.mediaType(form.type),
    bytes: accept?.format === 'json' && accept.pretty ? Buffer.concat([bytes, NEWLINE]) : bytes
  }
}

export function sendFailure (
  failure: StatusError, request: FastifyRequest, reply: FastifyReply, { type, bytes, policy }: WrittenFailure
): FastifyReply {
  const context = request.orch
  for (const [name, value] of Object.entries(failure.headers)) reply.header(name, value)
  if (context !== undefined) warn(reply, context.warnings, context)
  if (policy !== undefined) reply.header('content-security-policy', policy)
  reply.code(failure.status.code)
  reply.removeHeader('content-encoding') // of an answer that could not be sent
  context?.recorder?.status(failure.status)
  // HTTP/2 forbids this header; Fastify sets it when it does not read a body.
  if ('stream' in request.raw) reply.removeHeader('connection')
  return reply.type(type).send(bytes)
}
