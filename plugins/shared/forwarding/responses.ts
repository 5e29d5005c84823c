/** Sends a back end's response to the client. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Body } from '../../../answers/body.js'
import { pipePaced } from './paced.js'
import { StatusError, badRequest, type StatusReason } from '../../../schemas/status.js'

/** Headers of this server that would change how a proxied page behaves. */
const REPLACED_HEADERS: ReadonlySet<string> = new Set(['content-security-policy', 'x-content-type-options'])

/** A redirect could send the client, with its credentials, to any server. */
export const isRedirect = ({ statusCode = 0, headers }: IncomingMessage): boolean => statusCode >= 300 &&
  statusCode < 400 && headers.location !== undefined
export const redirected = () =>
  new StatusError(undefined, 'the backend attempted to redirect this request, which is not permitted', { code: 502 })

/** Lists, to which the back end adds. */
const ADDED_HEADERS: ReadonlySet<string> = new Set(['cache-control', 'vary'])

export interface Received {
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Readable
}

/** Sends what a back end has answered. @param ending ends an unbounded response cleanly at shutdown */
export function passOn (reply: FastifyReply, { code, headers, body }: Received, ending?: AbortSignal): FastifyReply {
  for (const name of REPLACED_HEADERS) reply.removeHeader(name)
  const { 'content-length': length, ...others } = headers
  for (const [name, value] of Object.entries(others)) {
    const own = ADDED_HEADERS.has(name) ? reply.getHeader(name) : undefined
    reply.header(name, own === undefined ? value : [String(own), ...(Array.isArray(value) ? value : [value])])
  }
  reply.raw.statusCode = code // Fastify refuses those from 600 on
  return stream(reply, body, ending, String(length ?? ''))
}

/** Streams a body as it comes; a truncated one destroys the response. Headers and code are those of the reply. */
export function stream (reply: FastifyReply, body: Readable, ending?: AbortSignal, length = ''): FastifyReply {
  body.on('error', () => {}) // it may fail while a hook of the host waits
  const writeTo = (raw: ServerResponse): void => { relay(body, raw, reply, ending) }
  const abandon = (): void => { body.destroy() }
  try {
    return reply.send(new Body(reply, { length: length === '' ? undefined : length, writeTo, abandon }))
  } catch { // an invalid status or header
    abandon()
    reply.raw.destroy()
    return reply
  }
}

function relay (body: Readable, raw: ServerResponse, { request, server }: FastifyReply, ending?: AbortSignal): void {
  raw.flushHeaders() // the first bytes may take long
  const end = (): void => {
    body.unpipe(raw)
    raw.end()
    body.destroy()
  }
  const broken = (): void => {
    if (body.readableEnded || raw.writableEnded) return
    const { log, orch: { auditId } } = request
    if (!raw.destroyed) log.info({ auditId }, 'an answer was not finished, as its back end broke off')
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

/** Maximum bytes read from an error response. */
const MAX_ERROR_BYTES = 50_000

async function textOf (answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // leaving the loop early destroys the response and its connection
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_ERROR_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES).toString()
}

/** Messages for errors whose bodies are not passed to clients. */
const REASONS: ReadonlyMap<number, readonly [StatusReason, string]> = new Map([
  [401, ['Unauthorized', 'the server has asked for the client to provide credentials']],
  [404, ['NotFound', 'the server could not find the requested resource']],
  [405, ['MethodNotAllowed', 'the server does not allow this method on the requested resource']],
  [409, ['Conflict', 'the server reported a conflict']],
  [422, ['Invalid', 'the server rejected our request due to an error in our request']],
  [429, ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']],
  [503, ['ServiceUnavailable', 'the server is currently unable to handle the request']],
  [504, [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request'
  ]]
])

/** Converts a node agent's error response for a subresource (`pods/log`) of the named object. */
export async function failureOf (answer: IncomingMessage, kind: string, name: string): Promise<StatusError> {
  const code = answer.statusCode ?? 500
  const text = await textOf(answer).catch(() => '')
  if (code === 500) {
    return new StatusError('InternalError', `Internal error occurred: ${text}`, {
      details: { causes: [{ message: text }] }
    })
  }
  if (code === 400) return badRequest(text)
  const [reason, words] = REASONS.get(code) ??
    (code === 403
      ? ['Forbidden' as const, text]
      : code > 500
        ? ['InternalError' as const,
          `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
          ]
        : [undefined, `the server responded with the status code ${code} but did not return more information`])
  return new StatusError(reason, `${words} ( ${kind} ${name})`, { code, details: { name, kind } })
}
