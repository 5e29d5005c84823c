/**
 * The HTTPS server under Fastify: HTTP/2 and HTTP/1.1 on one port, limits on clients, and graceful shutdown: `stop`
 * rejects new connections, lets active responses finish, then closes all connections.
 */
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { TlsOptions } from 'node:tls'
import { MAX_BODY_BYTES } from '../schemas/limits.js'
import { ACTIVE, type Counted } from './active-responses.js'
import { endHandshake } from './client-errors.js'
import { Connections } from './connections.js'
import { Dispatcher } from './dispatcher.js'
import { GracefulGoaway } from './goaway.js'
import { stopGracefully } from './graceful-stop.js'
import { paceHandshakes } from './handshakes.js'
import { NO_TUNNELS, UNMET, type Refusal } from './refusals.js'
import { serveSessions } from './sessions.js'
import { continueInTurn } from './wire/pipelines.js'
import { serveUpgrade } from './wire/upgrades.js'

export interface ListenerOptions {
  readonly tls: TlsOptions
  /** Streams per HTTP/2 connection; 0 means the default, 250. */
  readonly maxStreams: number
  /** Whether HTTP/1.1 is all that is served, `--disable-http2-serving`. Default false. */
  readonly http1Only?: boolean
  /** Milliseconds in which a request and its body must arrive. */
  readonly requestTimeout: number
  /** Probability, 0 to 1, that an HTTP/2 request makes its client reconnect. Default 0. */
  readonly goawayChance?: number
  /**
   * Maximum milliseconds until the client gets the GOAWAY, and from then until its connection is closed. Default 1
   * second, as upstream.
   */
  readonly reconnectGrace?: number
  /** Milliseconds until an idle connection is closed. Default 90 seconds. */
  readonly idle?: number
  /** Milliseconds for the TLS handshake. Default 10 seconds. */
  readonly handshake?: number
  /** Called for each connection beyond the limit. */
  readonly onFull?: () => void
  /** Called for connection errors before a request, for the log. */
  readonly onConnectionError?: (error: Error) => void
  /** Called for each failed TLS handshake. */
  readonly onHandshakeError?: () => void
}

export interface Listener {
  readonly server: Http2SecureServer
  /** Serves a connection that another process has accepted. The server need not listen. */
  serve: (socket: Socket) => void
  /** Sets the maximum number of connections; undefined means no limit. */
  bound: (connections: number | undefined) => void
  /**
   * Stops accepting connections. Clients are notified, pending requests served, and each connection closes after its
   * last response. Idempotent.
   */
  stop: () => void
  /** Resolves when no connection is left, or after the timeout. */
  closed: (milliseconds: number) => Promise<void>
  /** Destroys every connection. */
  destroy: () => void
}

/** Maximum bytes of a request's headers, enough for tokens with many groups. */
const MAX_HEADER_BYTES = 64 * 1024
/** Longer than the minute for which load balancers and clients keep idle connections. */
const IDLE = 90_000
const HANDSHAKE = 10_000
const RECONNECT_GRACE = 1000
/** As TLS writes a list of protocols: each after its length. */
const HTTP1_ONLY = Buffer.from('\x08http/1.1')

export function createListener (handler: RequestListener, options: ListenerOptions): Listener {
  const { goawayChance = 0, reconnectGrace: leave = RECONNECT_GRACE, idle = IDLE } = options
  const dispatcher: Dispatcher = new Dispatcher(handler, { goawayChance, leave }, () => goaway)
  const dispatch = (request: IncomingMessage, response: ServerResponse, refusal?: Refusal): void => {
    dispatcher.dispatch(request, response, refusal)
  }
  // Compatibility requests look like HTTP/1 requests to Fastify.
  const server = createSecureServer(
    settingsOf(options), dispatch as unknown as Parameters<typeof createSecureServer>[1]
  )
  Object.assign(server, http1SettingsOf(options))
  paceHandshakes(server, options.handshake ?? HANDSHAKE)
  const sessions = serveSessions(server, dispatch, idle)
  const goaway = new GracefulGoaway(sessions.answersOf, leave)
  const connections = new Connections(server)
  serveExpectations(server, dispatch)
  server.on('upgrade', (request: IncomingMessage, socket: Counted, head: Buffer) => {
    serveUpgrade(request, { socket, head }, (socket[ACTIVE] ?? 0) > 0, dispatch)
  })
  // Node closes HTTP/1 connections without a response, and responds to HTTP/2 without a body.
  server.on('connect', (request: IncomingMessage, target: Counted | ServerResponse, head: Buffer) => {
    const refuse = (response: ServerResponse): void => { dispatch(request, response, NO_TUNNELS) }
    if (target instanceof Duplex) {
      serveUpgrade(request, { socket: target, head }, (target[ACTIVE] ?? 0) > 0, (_, response) => { refuse(response) })
    } else refuse(target)
  })
  server.on('session', session => { if (dispatcher.ending) session.close() })
  server.on('sessionError', (error: Error) => options.onConnectionError?.(error))
  server.on('tlsClientError', (error, socket) => {
    options.onConnectionError?.(error)
    options.onHandshakeError?.()
    endHandshake(error, socket)
  })
  server.on('drop', () => options.onFull?.())

  let stopping = false
  return {
    server,
    serve: socket => {
      if (connections.count >= (server.maxConnections || Infinity)) {
        socket.destroy()
        options.onFull?.()
        return
      }
      socket.setNoDelay(true)
      server.emit('connection', socket)
    },
    bound: limit => { if (limit !== undefined) server.maxConnections = limit },
    stop: () => {
      if (!stopping) stopGracefully({ server, dispatcher, sessions, goaway, connections })
      stopping = true
    },
    closed: async milliseconds => { await connections.closed(milliseconds) },
    destroy: () => {
      for (const session of sessions) session.destroy()
      connections.destroy()
    }
  }
}

type Settings = SecureServerOptions & { strictFieldWhitespaceValidation: boolean, requireHostHeader: boolean }

const settingsOf = ({ tls, handshake = HANDSHAKE, maxStreams }: ListenerOptions): Settings => ({
  ...tls,
  // Otherwise Node silently drops headers with trailing blanks, credentials included. Later versions of Node only.
  strictFieldWhitespaceValidation: false,
  requireHostHeader: false, // from Node 24 on it would answer without a Status; host-header.ts does
  allowHTTP1: true,
  handshakeTimeout: handshake,
  noDelay: true, // as on Node's HTTP/1 server: otherwise an event waits for the acknowledgement of the previous one
  maxHeaderListPairs: 200,
  maxSessionMemory: 64,
  settings: { maxConcurrentStreams: maxStreams === 0 ? 250 : maxStreams, maxHeaderListSize: MAX_HEADER_BYTES }
})

/** Node reads them from the server object, but its type lacks them. */
const http1SettingsOf = ({ http1Only = false, requestTimeout, idle = IDLE }: ListenerOptions) => ({
  ...(http1Only ? { ALPNProtocols: HTTP1_ONLY } : {}),
  maxHeaderSize: MAX_HEADER_BYTES,
  maxHeadersCount: 0, // limited in bytes; a limit on the count would silently drop headers, credentials included
  requestTimeout,
  headersTimeout: Math.min(requestTimeout, 30_000),
  connectionsCheckingInterval: Math.min(requestTimeout, 1000),
  keepAliveTimeout: idle
})

/** Requests with the header `Expect`. */
function serveExpectations (
  server: Http2SecureServer, dispatch: (request: IncomingMessage, response: ServerResponse, refusal?: Refusal) => void
): void {
  server.on('checkContinue', (request, response) => {
    continueInTurn(request as unknown as IncomingMessage, response as unknown as ServerResponse, MAX_BODY_BYTES)
    dispatch(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  server.on('checkExpectation', (request, response) => {
    dispatch(request as unknown as IncomingMessage, response as unknown as ServerResponse, UNMET)
  })
}
