/** Responses to clients that send invalid HTTP/1, or HTTP without TLS to the TLS port. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { currentResponse } from './wire/pipelines.js'
import { ACTIVE, LATEST, type Counted } from './active-responses.js'
import { badRequestBody } from './refusals.js'

/** Milliseconds to send the response. */
const REFUSAL_TIMEOUT = 5000
/**
 * Milliseconds in which the client can read the response while it still sends: a connection that is closed with unread
 * bytes is reset, and the response is lost.
 */
const LINGER = 1000

/** Connections that have their response. What still arrives on them is read and dropped. */
const refused = new WeakSet<Socket>()

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
const isMidResponse = ({ [ACTIVE]: answers = 0, [LATEST]: latest }: Counted): boolean => answers > 1 ||
  (answers === 1 && latest?.headersSent === true)

/** During the handshake nothing can be written. */
const isHandshaking = (socket: Socket & { readonly secureConnecting?: boolean }): boolean =>
  socket.secureConnecting === true

/**
 * Responds to invalid HTTP with a Status and closes the connection, or closes it after the responses of the requests
 * before. The response contains nothing of the request. For Fastify's `clientErrorHandler`.
 */
export function answerBadRequest (error: Error & { code?: string }, socket: Socket): void {
  if (refused.has(socket) && error.code !== 'ECONNRESET') return
  const pending = pendingOf(socket)
  if (pending !== undefined && error.code !== 'ECONNRESET' && socket.writable) {
    pending.shouldKeepAlive = false
    return
  }
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || isHandshaking(socket)) {
    socket.destroy()
    return
  }
  if (isMidResponse(socket)) {
    endAfterResponse(socket)
    return
  }
  const [code, phrase, message] = (Object.hasOwn(BAD_REQUESTS, error.code ?? '')
    ? BAD_REQUESTS[error.code ?? '']
    : undefined) ??
    [400, 'Bad Request', 'the request is not valid HTTP']
  const reason = code === 408 ? 'Timeout' : 'BadRequest'
  const body = badRequestBody(code, reason, message)
  refused.add(socket)
  end(socket, `HTTP/1.1 ${code} ${phrase}\r\nContent-Type: application/json\r\nContent-Length: ` +
    `${Buffer.byteLength(body)}\r\nCache-Control: no-cache, private\r\nConnection: close\r\n\r\n${body}`)
}

/** A response that is written whole still arrives, such as the refusal of a request whose body is the invalid HTTP. */
function endAfterResponse (socket: Counted & Socket): void {
  const { [ACTIVE]: answers = 0, [LATEST]: latest } = socket
  if (answers > 1 || latest?.writableEnded !== true) {
    socket.destroy()
    return
  }
  refused.add(socket)
  latest.once('finish', () => { end(socket) })
}

/** Sends a last text and ends the connection, which the client has a moment to read. */
function end (socket: Socket, text = ''): void {
  let timer = destroyAfter(REFUSAL_TIMEOUT, socket) // whatever it sends: it may never read the response
  socket.end(text, () => {
    clearTimeout(timer)
    timer = destroyAfter(LINGER, socket)
  })
  socket.once('end', () => { socket.destroy() })
  socket.once('close', () => { clearTimeout(timer) })
}

const destroyAfter = (milliseconds: number, socket: Socket): NodeJS.Timeout =>
  setTimeout(() => { socket.destroy() }, milliseconds).unref()

/**
 * Ends a connection whose TLS handshake failed. A client that speaks HTTP without TLS gets the answer of the
 * convention, in plain text: a URL that begins with `http:` is a common mistake.
 */
export function endHandshake (error: Error & { code?: string }, socket: Duplex & { readonly _parent?: Duplex }): void {
  const { _parent: connection } = socket // below TLS
  if (error.code === 'ERR_SSL_HTTP_REQUEST' && connection?.writable === true) {
    connection.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n', () => {
      socket.destroy()
    })
  } else {
    socket.destroy() // Node leaves this to the listener; the connection would stay open
  }
}
