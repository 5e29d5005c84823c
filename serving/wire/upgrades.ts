/**
 * Requests of HTTP/1.1 that ask for another protocol on their connection. Node hands such a connection over with the request
 * and makes no answer for it; here it gets one, so that it goes the way of every other request, through all hooks, and whoever
 * serves it takes the connection when it is time. For the launcher's listener and for the servers of hosts.
 */
import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const waiting = new WeakMap<IncomingMessage, Socket>()

const noop = (): void => {}

/** Milliseconds for a refusal to leave. */
const LAST_WORDS = 5000

const refusal = (message: string): string => {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'BadRequest', code: 400 })
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
}

const hasBody = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0

/**
 * For a server's `upgrade` event. A request with a body is refused, as nothing says where that ends and the other protocol
 * begins. The connection ends with an answer that is none of switching.
 * @param busy whether answers to earlier requests are under way on the connection, amid which this one cannot be answered
 */
export function serveUpgrade (request: IncomingMessage, socket: Socket, head: Buffer, busy: boolean, serve: (request: IncomingMessage, response: ServerResponse) => void): void {
  socket.on('error', noop) // its end says the same
  if (busy) {
    socket.destroy()
    return
  }
  if (hasBody(request)) {
    const late = setTimeout(() => { socket.destroy() }, LAST_WORDS)
    socket.once('close', () => { clearTimeout(late) })
    socket.end(refusal('a request that asks for an upgrade may have no body'), () => { socket.destroy() })
    return
  }
  if (head.length > 0) socket.unshift(head)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => { socket.destroySoon() })
  waiting.set(request, socket)
  serve(request, response)
}

/** The connection of a request that asks for an upgrade; undefined of any other. Whoever writes to it answers in the place of the response. */
export const connectionOf = (request: IncomingMessage): Socket | undefined => waiting.get(request)
