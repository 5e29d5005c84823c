/**
 * Connections of HTTP/2: their requests on the way to the handler, and the end of those that nobody uses.
 *
 * Requests that end with their headers are handed over without the compatibility layer of Node; others, which are
 * those with a body, through it.
 */
import { constants, type Http2SecureServer, type Http2Session, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { CoreRequest, type ConnectionState } from './core-request.js'
import { CoreResponse } from './core-response.js'
import { takeStreams } from './wire/compatible-streams.js'

/** How often in the time after which it is closed a connection is looked at. A timer of its own would be set anew with every frame. */
const LOOKS = 3

interface Kept extends ConnectionState {
  /** Since it was last looked at. */
  used: boolean
  /** Looks in which it was not used, or, with answers under way, nothing showed that its client is there. */
  quiet: number
  /** Of its socket, when it was last looked at. */
  written: number
}

/** What a ping and its record take at most: more bytes than that have left since the last look where a client still reads. */
const OF_A_PING = 1024

export interface Sessions extends Iterable<ServerHttp2Session> {
  /** Under way on a connection. */
  readonly answersOf: (session: Http2Session) => number
}

/**
 * For a server that was made with `handler`. Connections without a request or a ping for `idle` milliseconds, or a
 * third more, are closed, and destroyed a third later where their client does not close its end; those with answers
 * under way are asked for a sign of life, and destroyed when none comes in that time.
 * @returns those that are open
 */
export function serveSessions (server: Http2SecureServer, handler: RequestListener, idle: number): Sessions {
  const connections = new Map<Http2Session, Kept>()
  // A session begins while its server hears of its connection; it would hand out a stand-in of it that throws once it has closed.
  let connecting: Socket | undefined
  server.prependListener('secureConnection', socket => { connecting = socket })
  server.on('session', session => {
    const connection: Kept = { socket: connecting ?? session.socket, open: 0, used: true, quiet: 0, written: 0 }
    connecting = undefined
    connections.set(session, connection)
    session.on('ping', () => { connection.used = true })
    session.once('close', () => { connections.delete(session) })
  })

  const look = setInterval(() => {
    for (const [session, connection] of connections) {
      const { bytesWritten } = connection.socket
      connection.quiet = connection.used || bytesWritten > connection.written + OF_A_PING ? 0 : connection.quiet + 1
      connection.used = false
      connection.written = bytesWritten
      if (session.destroyed) {
        // Node waits for its client to read what is left and to close the other end, which may be never.
        if (connection.quiet > LOOKS) connection.socket.destroy()
      } else if (connection.open === 0) {
        if (connection.quiet >= LOOKS) session.close()
      } else if (connection.quiet > LOOKS) {
        // Its client has gone without a word, or Node has given up reading after an error of the protocol and says nothing.
        session.destroy()
      } else {
        session.ping(error => { if (error === null) connection.used = true })
      }
    }
  }, idle / LOOKS)
  look.unref()
  server.once('close', () => { clearInterval(look) })

  const serveCompatibly = takeStreams(server, (stream, headers, flags, rawHeaders) => {
    const connection = stream.session === undefined ? undefined : connections.get(stream.session)
    if (connection === undefined) { // its connection has gone
      stream.destroy()
      return
    }
    connection.used = true
    stream.on('end', ended)
    const method = headers[':method']
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) === 0 || (method !== 'GET' && method !== 'HEAD') || headers.expect !== undefined) {
      connection.open++
      stream.once('close', () => { connection.open-- })
      serveCompatibly(stream, headers, flags, rawHeaders)
      return
    }
    const request = new CoreRequest(stream, headers, rawHeaders, connection)
    // They do what is used of those of HTTP/1, as the compatible ones do.
    handler(request as unknown as IncomingMessage, new CoreResponse(stream, request) as unknown as ServerResponse<IncomingMessage> & { req: IncomingMessage })
  })
  return {
    [Symbol.iterator]: () => connections.keys() as IterableIterator<ServerHttp2Session>, // a server has no others
    answersOf: session => connections.get(session)?.open ?? 0
  }
}

/**
 * A client that gives up an answer without an error code ends the stream for Node, which then waits for bytes to leave
 * that never will: it would not close, not even with its connection.
 */
function ended (this: ServerHttp2Stream): void {
  if (this.closed && !this.writableFinished) this.destroy()
}
