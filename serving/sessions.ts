/**
 * HTTP/2 connections: dispatches their requests to the handler and ends unused connections. Requests without a body
 * bypass Node's compatibility layer; others use it.
 */
import {
  constants, type Http2SecureServer, type Http2Session, type ServerHttp2Session, type ServerHttp2Stream
} from 'node:http2'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { CoreRequest, type ConnectionState } from './core-request.js'
import { CoreResponse } from './core-response.js'
import { takeStreams } from './wire/compatible-streams.js'

/** Checks per idle timeout. An exact idle timer would be reset by every frame. */
const CHECKS = 3

interface SessionState extends ConnectionState {
  /** True if used since the last check. */
  used: boolean
  /** Consecutive checks without use or, with active responses, without a sign of life. */
  quiet: number
  /** The socket's bytesWritten at the last check. */
  written: number
}

/** Maximum bytes of a ping record. If more was written since the last check, the client is reading. */
const PING_BYTES = 1024

export interface Sessions extends Iterable<ServerHttp2Session> {
  /** Number of responses in progress on a connection. */
  readonly answersOf: (session: Http2Session) => number
}

/**
 * For a server created with `handler`. Connections without requests or pings for `idle` milliseconds, or up to a third
 * more, are closed, and destroyed a third later if the client does not close its end. Connections with active responses
 * are pinged, and destroyed if nothing comes back in that time.
 * @returns the open sessions
 */
export function serveSessions (server: Http2SecureServer, handler: RequestListener, idle: number): Sessions {
  const connections = new Map<Http2Session, SessionState>()
  // Capture the socket: session.socket is a proxy that throws after close.
  let connecting: Socket | undefined
  server.prependListener('secureConnection', socket => { connecting = socket })
  server.on('session', session => {
    const connection: SessionState = { socket: connecting ?? session.socket, open: 0, used: true, quiet: 0, written: 0 }
    connecting = undefined
    connections.set(session, connection)
    session.on('ping', () => { connection.used = true })
    session.once('close', () => { connections.delete(session) })
  })

  const look = setInterval(() => {
    for (const [session, connection] of connections) lookAt(session, connection)
  }, idle / CHECKS)
  look.unref()
  server.once('close', () => { clearInterval(look) })

  const serveCompatibly = takeStreams(server, (stream, headers, flags, rawHeaders) => {
    const connection = stream.session === undefined ? undefined : connections.get(stream.session)
    if (connection === undefined) { // its connection is closed
      stream.destroy()
      return
    }
    connection.used = true
    stream.on('end', ended)
    const method = headers[':method']
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) === 0 || (method !== 'GET' && method !== 'HEAD') ||
      headers.expect !== undefined) {
      connection.open++
      stream.once('close', () => { connection.open-- })
      serveCompatibly(stream, headers, flags, rawHeaders)
      return
    }
    const request = new CoreRequest(stream, headers, rawHeaders, connection)
    // They implement the used subset of the HTTP/1 classes.
    handler(
      request as unknown as IncomingMessage,
      new CoreResponse(stream, request) as unknown as ServerResponse<IncomingMessage> & { req: IncomingMessage }
    )
  })
  return {
    // a server only has server sessions
    [Symbol.iterator]: () => connections.keys() as IterableIterator<ServerHttp2Session>,
    answersOf: session => connections.get(session)?.open ?? 0
  }
}

/** Ends a session that is idle, and pings one that may be. */
function lookAt (session: Http2Session, connection: SessionState): void {
  const { bytesWritten } = connection.socket
  connection.quiet = connection.used || bytesWritten > connection.written + PING_BYTES ? 0 : connection.quiet + 1
  connection.used = false
  connection.written = bytesWritten
  if (session.destroyed) {
    // Node would wait indefinitely for the client to read the rest and close.
    if (connection.quiet > CHECKS) connection.socket.destroy()
  } else if (connection.open === 0) {
    if (connection.quiet >= CHECKS) session.close()
  } else if (connection.quiet > CHECKS) {
    // The client vanished, or Node silently stopped reading after a protocol error.
    session.destroy()
  } else {
    session.ping(error => { if (error === null) connection.used = true })
  }
}

/**
 * Destroys a stream that its client cancelled without an error code: before 26, Node waits forever for it to flush. Not
 * at once, as the last write of a response returns after its stream has closed, and Node makes an error with its stack
 * for each write of a destroyed stream. Benchmark: `npm run bench -- h2`, 'GET, 16 connections × 16 streams, HTTP/2,
 * embedded'.
 */
function ended (this: ServerHttp2Stream): void {
  if (this.closed && !this.writableFinished) setImmediate(destroyUnfinished, this)
}

function destroyUnfinished (stream: ServerHttp2Stream): void {
  if (!stream.writableFinished) stream.destroy()
}
