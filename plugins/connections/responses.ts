/** Sends a back end's response to the client. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { pipePaced } from './paced.js'
import { StatusError, badRequest, type StatusReason } from '../../schemas/status.js'

/** Headers of this server that would change how a proxied page behaves. */
const REPLACED_HEADERS: ReadonlySet<string> = new Set(['content-security-policy', 'x-content-type-options'])

/** A redirect could send the client, with its credentials, to any server. */
export const isRedirect = ({ statusCode = 0, headers }: IncomingMessage): boolean => statusCode >= 300 && statusCode < 400 && headers.location !== undefined
export const redirected = () => new StatusError(undefined, 'the backend attempted to redirect this request, which is not permitted', { code: 502 })

/** Headers already set on the reply. */
export const ownHeaders = (reply: FastifyReply): OutgoingHttpHeaders => reply.getHeaders() as OutgoingHttpHeaders // the declared type includes request headers

/** Merges this server's headers with the back end's. */
export function mergeHeaders (reply: FastifyReply, received: Readonly<Record<string, string | string[]>>): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(ownHeaders(reply))) if (!REPLACED_HEADERS.has(name)) headers[name] = value
  for (const [name, value] of Object.entries(received)) {
    const own = headers[name]
    headers[name] = own === undefined || (name !== 'cache-control' && name !== 'vary') ? value : [String(own), ...(Array.isArray(value) ? value : [value])]
  }
  return headers
}

/** Sends the head immediately and streams the body; a truncated body destroys the response. @param ending ends an unbounded response cleanly at shutdown */
export function stream (reply: FastifyReply, code: number, headers: OutgoingHttpHeaders, body: Readable, ending?: AbortSignal): FastifyReply {
  const { raw } = reply
  reply.hijack()
  try {
    raw.writeHead(code, headers)
  } catch { // an invalid status or header
    body.destroy()
    raw.destroy()
    return reply
  }
  raw.flushHeaders()
  const end = (): void => {
    body.unpipe(raw)
    raw.end()
    body.destroy()
  }
  const broken = (): void => { if (!body.readableEnded && !raw.writableEnded) raw.destroy() }
  body.on('error', broken)
  body.once('close', broken)
  raw.once('close', () => {
    ending?.removeEventListener('abort', end)
    body.destroy()
  })
  pipePaced(body, raw, reply.server.orch.settings.connectionBytesPerSecond)
  if (ending?.aborted === true) end()
  else ending?.addEventListener('abort', end, { once: true })
  return reply
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
  [504, ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request']]
])

/** Converts a node agent's error response for a subresource (`pods/log`) of the named object. */
export async function failureOf (answer: IncomingMessage, kind: string, name: string): Promise<StatusError> {
  const code = answer.statusCode ?? 500
  const text = await textOf(answer).catch(() => '')
  if (code === 500) return new StatusError('InternalError', `Internal error occurred: ${text}`, { details: { causes: [{ message: text }] } })
  if (code === 400) return badRequest(text)
  const [reason, words] = REASONS.get(code) ??
    (code === 403
      ? ['Forbidden' as const, text]
      : code > 500 ? ['InternalError' as const, `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`] : [undefined, `the server responded with the status code ${code} but did not return more information`])
  return new StatusError(reason, `${words} ( ${kind} ${name})`, { code, details: { name, kind } })
}
