/**
 * HTTP/1.1 upgrade requests. Node hands over the connection without a response object; here the request gets one and
 * passes all hooks, and its handler takes the connection. For the launcher's listener and for hosts' servers. This is
 * Node's documented design, in Node 26 too.
 * @see https://nodejs.org/api/http.html#event-upgrade_1
 */
import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const connections = new WeakMap<IncomingMessage, Socket>()

const noop = (): void => {}

/** Milliseconds to send a refusal. */
const REFUSAL_TIMEOUT = 5000

const refusal = (message: string): string => {
  const body = JSON.stringify({
    kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'BadRequest', code: 400
  })
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}` +
    `\r\nConnection: close\r\n\r\n${body}`
}

const hasBody = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined ||
  Number(headers['content-length'] ?? 0) !== 0

/**
 * For a server's `upgrade` event. Requests with a body are rejected: the start of the other protocol would be
 * undefined. The connection closes after a regular response.
 * @param busy true if earlier responses are active on the connection; it is then destroyed
 */
export function serveUpgrade (
  request: IncomingMessage, { socket, head }: { readonly socket: Socket, readonly head: Buffer }, busy: boolean,
  serve: (request: IncomingMessage, response: ServerResponse) => void
): void {
  socket.on('error', noop) // 'close' follows
  if (busy) {
    socket.destroy()
    return
  }
  if (hasBody(request)) {
    const late = setTimeout(() => { socket.destroy() }, REFUSAL_TIMEOUT)
    socket.once('close', () => { clearTimeout(late) })
    socket.end(refusal('a request that asks for an upgrade may have no body'), () => { socket.destroy() })
    return
  }
  if (head.length > 0) socket.unshift(head)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => { socket.destroySoon() })
  connections.set(request, socket)
  serve(request, response)
}

/** The connection of an upgrade request; undefined for others. Writing to it replaces the response. */
export const connectionOf = (request: IncomingMessage): Socket | undefined => connections.get(request)
