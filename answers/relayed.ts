/** Sends what another server has answered, as it comes. */
import type { FastifyReply } from 'fastify'
import { StatusError } from '../schemas/status.js'
import type { PassedAnswer, RelayedAnswer } from './answer.js'
import { Body, type BodyOutput } from './body.js'
import { pipePaced } from './paced.js'
import type { ServedRequest } from './request-context.js'
import { switchProtocols } from './switch-protocols.js'

/** Headers of this server that would change how a proxied page behaves. */
const REPLACED_HEADERS: ReadonlySet<string> = new Set(['content-security-policy', 'x-content-type-options'])
/** Node sends no other over HTTP/2. */
const MAX_STATUS = 599
/** Lists, to which the other server adds. */
const ADDED_HEADERS: ReadonlySet<string> = new Set(['cache-control', 'vary'])

export function sendRelayed (request: ServedRequest, reply: FastifyReply, answer: RelayedAnswer): undefined {
  if (answer.kind === 'upgrade') {
    if (switchProtocols(request, reply, answer.connection, answer.head)) answer.begin()
    else answer.abandon?.()
    return
  }
  if (answer.code > MAX_STATUS && request.raw.httpVersionMajor > 1) {
    answer.body?.destroy()
    throw new StatusError(undefined, `the backend answered with the status ${answer.code}, which is none of HTTP's`, {
      code: 502
    })
  }
  if (answer.isProxied) for (const name of REPLACED_HEADERS) reply.removeHeader(name)
  const { 'content-length': length, ...others } = answer.headers
  for (const [name, value] of Object.entries(others)) {
    const own = ADDED_HEADERS.has(name) ? reply.getHeader(name) : undefined
    reply.header(name, own === undefined ? value : [String(own), ...(Array.isArray(value) ? value : [value])])
  }
  if (answer.body === undefined) {
    void reply.code(answer.code).send()
    return
  }
  reply.raw.statusCode = answer.code // Fastify refuses those from 600 on
  stream(request, reply, { ...answer, body: answer.body }, length === undefined ? undefined : String(length))
}

type Streamed = PassedAnswer & { readonly body: NonNullable<PassedAnswer['body']> }

/** A truncated body destroys the response. */
function stream (
  request: ServedRequest, reply: FastifyReply, answer: Streamed, length: string | undefined
): void {
  const { body } = answer
  body.on('error', () => {}) // it may fail while a hook of the host waits
  const writeTo = (raw: BodyOutput): void => { relay(request, raw, answer) }
  const abandon = (): void => { body.destroy() }
  try {
    void reply.send(new Body(reply, { length, writeTo, abandon }))
  } catch { // an invalid status or header
    abandon()
    reply.raw.destroy()
  }
}

function relay (
  { log, orch, server }: ServedRequest, raw: BodyOutput, { body, ending }: Streamed
): void {
  raw.flushHeaders() // the first bytes may take long
  const end = (): void => {
    body.unpipe(raw)
    raw.end()
    body.destroy()
  }
  const broken = (): void => {
    if (body.readableEnded || raw.writableEnded) return
    if (!raw.destroyed) log.info({ auditId: orch.auditId }, 'an answer was not finished, as its back end broke off')
    raw.destroy()
  }
  body.once('close', broken)
  raw.once('close', () => {
    ending?.removeEventListener('abort', end)
    body.destroy()
  })
  pipePaced(body, raw, server.orchSettings.connectionBytesPerSecond)
  if (ending?.aborted === true) end()
  else if (body.destroyed) broken()
  else ending?.addEventListener('abort', end, { once: true })
}
