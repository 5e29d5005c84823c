/**
 * Works around two errors of Node's server with pipelined HTTP/1.1 requests: data that arrives when it has paused
 * reading, and the interim response to `Expect: 100-continue`. For the launcher's listener and for hosts' servers
 * (`plugins/http1-connections.ts`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { paceReads } from './paced-reads.js'

const readAsStreams = new WeakSet<Socket>()

const noop = (): void => {}

/**
 * The response whose turn it is on an HTTP/1.1 connection. Node records it only in this socket field, in Node 26 too.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/_http_server.js, `assignSocket`
 */
export const currentResponse = (
  socket: Socket & { readonly _httpMessage?: ServerResponse | null }
): ServerResponse | undefined => socket._httpMessage ?? undefined

/**
 * Makes Node read a connection as a stream, at a pace. Otherwise its parser reads below the stream: it takes all that a
 * read has brought at once, and over TLS it cannot be paused, as data decrypted when a pause is due is parsed as bad
 * HTTP (`HPE_PAUSED`). Adding a data listener is the only way to return to stream reading. Idempotent; call it once the
 * server knows the connection. No fix in Node 26.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/_http_server.js, `unconsume`
 */
export function readAsStream (socket: Socket): void {
  if (readAsStreams.has(socket)) return
  readAsStreams.add(socket)
  socket.on('data', noop).off('data', noop)
  paceReads(socket)
}

/**
 * Sends 100 Continue when the response is the current one of its connection. Node queues it at once, and then puts the
 * head of the response before it. No fix in Node 26.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/_http_outgoing.js, `_send`
 * Not sent if the body has arrived or the response has started. If the body is too large, the connection closes after
 * the response, because what follows is undefined.
 */
export function continueInTurn (request: IncomingMessage, response: ServerResponse, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    response.shouldKeepAlive = false
    return
  }
  const writeContinue = (): void => { if (!request.complete && !response.headersSent) response.writeContinue() }
  if (response.socket !== null) writeContinue()
  else response.once('socket', writeContinue)
}
