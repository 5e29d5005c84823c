/** The response to bytes that are not valid HTTP/1. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { currentResponse } from './wire/pipelines.js'
import { ACTIVE, LATEST, type Counted } from './active-responses.js'
import { badRequestBody } from './refusals.js'

/** Milliseconds to send the response. */
const REFUSAL_TIMEOUT = 5000

const BAD_REQUESTS: Record<string, readonly [number, string, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the request has more than 64 KiB of headers'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request did not arrive in time']
}

/** The response of a whole request before the invalid HTTP, unless one has begun. */
function pendingOf (socket: Counted): ServerResponse | undefined {
  const { [LATEST]: latest } = socket
  return latest?.req.complete === true && currentResponse(socket)?.headersSent === false ? latest : undefined
}

/** True if writing to the socket would corrupt another response. */
const isMidResponse = ({ [ACTIVE]: answers = 0, [LATEST]: latest }: Counted): boolean => answers > 1 || (answers === 1 && latest?.headersSent === true)

/** During the handshake nothing can be written. */
const isHandshaking = (socket: Socket & { readonly secureConnecting?: boolean }): boolean => socket.secureConnecting === true

/**
 * Responds to invalid HTTP with a Status and closes the connection, or closes it after the responses of the requests before. The response contains nothing of
 * the request. For Fastify's `clientErrorHandler`.
 */
export function answerBadRequest (error: Error & { code?: string }, socket: Socket): void {
  const pending = pendingOf(socket)
  if (pending !== undefined && error.code !== 'ECONNRESET' && socket.writable) {
    pending.shouldKeepAlive = false
    return
  }
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || isHandshaking(socket) || isMidResponse(socket)) {
    socket.destroy()
    return
  }
  const [code, phrase, message] = (Object.hasOwn(BAD_REQUESTS, error.code ?? '') ? BAD_REQUESTS[error.code ?? ''] : undefined) ??
    [400, 'Bad Request', 'the request is not valid HTTP']
  const reason = code === 408 ? 'Timeout' : 'BadRequest'
  const body = badRequestBody(code, reason, message)
  socket.end(`HTTP/1.1 ${code} ${phrase}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-cache, private\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy())
  socket.setTimeout(REFUSAL_TIMEOUT, () => socket.destroy()) // the client may never read it
}
