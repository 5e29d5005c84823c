/**
 * Requests of HTTP/1.1 that come while answers to earlier ones are under way, where Node's server gets them wrong:
 * bytes that come when it has stopped reading, and the interim answer to `Expect: 100-continue`. For the launcher's
 * listener and for the servers of hosts (`plugins/http1-connections.ts`).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

const readAsStreams = new WeakSet<Socket>()

const noop = (): void => {}

/**
 * Whether an answer of HTTP/1.1 is under way on the connection. Node keeps it in a field of the socket (`assignSocket` in
 * `lib/_http_server.js`) and tells of it in no other way.
 */
export const isAnswering = (socket: Socket & { readonly _httpMessage?: unknown }): boolean => (socket._httpMessage ?? null) !== null

/**
 * Has a connection of TLS read as the stream that it is. Node's parser else takes the bytes below the stream, where
 * nothing keeps them back: when a pause is due, as answers wait to be read, what has been decrypted by then is
 * handed to a parser that takes nothing, and counts as bad HTTP (`HPE_PAUSED`). Node gives the bytes back to the stream,
 * which pauses as one does, as soon as anybody listens to them
 * (`unconsume` in `lib/_http_server.js`), and offers no other way. Idempotent; to be called once the server knows the connection.
 */
export function readAsStream (socket: Socket): void {
  if (readAsStreams.has(socket) || !(socket instanceof TLSSocket)) return
  readAsStreams.add(socket)
  socket.on('data', noop).off('data', noop)
}

/**
 * Tells a client that asked for it to go on with the body, when the answer is the current one of its connection: of one
 * that is queued behind another Node would send the word amid that answer's own head and body. Not at all where
 * the body has come or the answer has begun meanwhile, or where the body is larger than may be: then the answer is the
 * last one, as it is not known what follows on the connection.
 */
export function continueInTurn (request: IncomingMessage, response: ServerResponse, mostBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) {
    response.shouldKeepAlive = false
    return
  }
  const writeContinue = (): void => { if (!request.complete && !response.headersSent) response.writeContinue() }
  if (response.socket !== null) writeContinue()
  else response.once('socket', writeContinue)
}
