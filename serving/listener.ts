/**
 * The HTTPS server under Fastify: HTTP/2 and HTTP/1.1 on one port, limits on clients, and graceful shutdown: `stop`
 * rejects new connections, lets active responses finish, then closes all connections.
 */
import {
  createSecureServer, type Http2SecureServer, type Http2ServerResponse, type SecureServerOptions, type ServerHttp2Stream
} from 'node:http2'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TlsOptions, TLSSocket } from 'node:tls'
import { continueInTurn, readAsStream } from './wire/pipelines.js'
import { MAX_BODY_BYTES } from '../schemas/limits.js'
import { afterPoll } from '../event-loop/batching.js'
import { stopAccepting } from './wire/stop-accepting.js'
import { serveUpgrade } from './wire/upgrades.js'
import { ACTIVE, LAST_ENDED_AT, LATEST, type Counted } from './active-responses.js'
import { endHandshake } from './client-errors.js'
import { GracefulGoaway } from './goaway.js'
import { originForm, overHttp1, refusalOf, refuse, UNMET, type Refusal } from './refusals.js'
import { serveSessions } from './sessions.js'

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
/** Milliseconds between the shutdown notice and closing idle connections, for requests in transit. */
const LINGER = 100
const RECONNECT_GRACE = 1000
/** As TLS writes a list of protocols: each after its length. */
const HTTP1_ONLY = Buffer.from('\x08http/1.1')
/**
 * Maximum repetitions of LINGER while requests arrive. HTTP/1 clients learn of the shutdown only from their next
 * response.
 */
const MAX_LINGERS = 20
/** Milliseconds after its last response during which an HTTP/1 connection counts as in use. */
const IN_USE = 1000
/** Milliseconds of silence before TCP keep-alive probes. */
const KEEP_ALIVE = 30_000

export function createListener (handler: RequestListener, options: ListenerOptions): Listener {
  const secure: SecureServerOptions & { strictFieldWhitespaceValidation: boolean, requireHostHeader: boolean } = {
    ...options.tls,
    // Otherwise Node silently drops headers with trailing blanks, credentials included. Later versions of Node only.
    strictFieldWhitespaceValidation: false,
    requireHostHeader: false, // from Node 24 on it would answer without a Status; host-header.ts does
    allowHTTP1: true,
    handshakeTimeout: options.handshake ?? HANDSHAKE,
    noDelay: true, // as on Node's HTTP/1 server: otherwise an event waits for the acknowledgement of the previous one
    maxHeaderListPairs: 200,
    maxSessionMemory: 64,
    settings: {
      maxConcurrentStreams: options.maxStreams === 0 ? 250 : options.maxStreams, maxHeaderListSize: MAX_HEADER_BYTES
    }
  }
  const { goawayChance = 0 } = options
  const leave = options.reconnectGrace ?? RECONNECT_GRACE
  /** True if the server may close connections so that clients reconnect. */
  let mayGoaway = goawayChance > 0
  let arrivals = 0
  /** True if connections close as soon as they are idle. */
  let ending = false
  /** Shared by all HTTP/1 responses. */
  const answered = function (this: ServerResponse): void {
    const socket: Counted = this.req.socket
    if ((socket[ACTIVE] = (socket[ACTIVE] ?? 1) - 1) > 0) return
    socket[LATEST] = undefined
    socket[LAST_ENDED_AT] = performance.now()
    if (ending) socket.end()
  }
  const dispatch = (request: IncomingMessage, response: ServerResponse, refusal?: Refusal): void => {
    arrivals++
    let isFirst = false
    let stream: ServerHttp2Stream | undefined
    if (overHttp1(request)) {
      const socket: Counted = request.socket
      isFirst = socket[ACTIVE] === undefined
      socket[ACTIVE] = (socket[ACTIVE] ?? 0) + 1
      socket[LATEST] = response
      response.on('close', answered)
    } else {
      ({ stream } = response as unknown as Http2ServerResponse)
      if (mayGoaway) {
        const { session } = stream
        // Closing immediately would reset the connection if more data arrives.
        if (session !== undefined && Math.random() < goawayChance) {
          goaway.send(session, () => { setTimeout(() => { session.close() }, leave).unref() })
        }
        if (goaway.holds(stream, () => { serve(request, response, refusal) })) return
      }
    }
    // Skip requests that have closed: their seat would never be released. Compatibility responses do not know it.
    const target = stream ?? response
    // Node up to 26.10 closes the connection at the end of the read that completes a handshake with a badly signed
    // certificate. Serve the first request at once, so that its 401 is sent.
    if (isFirst || refusal !== undefined) serve(request, response, refusal)
    else afterPoll(() => { if (!target.destroyed) serve(request, response, refusal) })
  }
  const serve = (
    request: IncomingMessage, response: ServerResponse, refusal: Refusal | undefined = refusalOf(request)
  ): void => {
    const { url = '' } = request
    const path = url.startsWith('/') && !url.includes('#') ? url : originForm(url)
    if (refusal !== undefined) {
      refuse(response, refusal)
    } else if (path === undefined) {
      refuse(response, {
        code: 400, reason: 'BadRequest', message: 'the request target is neither a path nor a URL, or has a fragment'
      })
    } else {
      if (path !== url) request.url = path
      handler(request, response as ServerResponse<IncomingMessage> & { req: IncomingMessage })
    }
  }
  // Compatibility requests look like HTTP/1 requests to Fastify.
  const server = createSecureServer(secure, dispatch as unknown as Parameters<typeof createSecureServer>[1])
  const sessions = serveSessions(server, dispatch, options.idle ?? IDLE)
  const goaway = new GracefulGoaway(sessions.answersOf, leave)
  server.on('checkContinue', (request, response) => {
    continueInTurn(request as unknown as IncomingMessage, response as unknown as ServerResponse, MAX_BODY_BYTES)
    dispatch(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  server.on('checkExpectation', (request, response) => {
    dispatch(request as unknown as IncomingMessage, response as unknown as ServerResponse, UNMET)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Counted, head: Buffer) => {
    serveUpgrade(request, { socket, head }, (socket[ACTIVE] ?? 0) > 0, dispatch)
  })
  // HTTP/1 settings: Node reads them from the server object, but its type lacks them.
  Object.assign(server, {
    ...(options.http1Only === true ? { ALPNProtocols: HTTP1_ONLY } : {}),
    maxHeaderSize: MAX_HEADER_BYTES,
    maxHeadersCount: 0, // limited in bytes; a limit on the count would silently drop headers, credentials included
    requestTimeout: options.requestTimeout,
    headersTimeout: Math.min(options.requestTimeout, 30_000),
    connectionsCheckingInterval: Math.min(options.requestTimeout, 1000),
    keepAliveTimeout: options.idle ?? IDLE
  })

  const sockets = new Set<TLSSocket & Counted>()
  let stopping = false

  server.on('secureConnection', socket => {
    sockets.add(socket)
    socket.setKeepAlive(true, KEEP_ALIVE)
    if (socket.alpnProtocol !== 'h2') readAsStream(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', session => { if (ending) session.close() })
  server.on('sessionError', (error: Error) => options.onConnectionError?.(error))
  server.on('tlsClientError', (error, socket) => {
    options.onConnectionError?.(error)
    options.onHandshakeError?.()
    endHandshake(error, socket)
  })
  // Raw connections, including those before the TLS handshake.
  const accepted = new Set<Socket>()
  const whenNoneIsLeft: Array<() => void> = []
  server.on('connection', socket => {
    accepted.add(socket)
    socket.once('close', () => {
      accepted.delete(socket)
      if (accepted.size === 0) for (const call of whenNoneIsLeft.splice(0)) call()
    })
  })
  server.on('drop', () => options.onFull?.())

  return {
    server,
    serve: socket => {
      if (accepted.size >= (server.maxConnections || Infinity)) {
        socket.destroy()
        options.onFull?.()
        return
      }
      socket.setNoDelay(true)
      server.emit('connection', socket)
    },
    bound: connections => { if (connections !== undefined) server.maxConnections = connections },
    stop: () => {
      if (stopping) return
      stopping = true
      stopAccepting(server)
      mayGoaway = true
      for (const session of sessions) goaway.send(session)
      const end = (): void => {
        ending = true
        server.close()
        for (const session of sessions) session.close()
        for (const socket of sockets) if (socket.alpnProtocol !== 'h2' && (socket[ACTIVE] ?? 0) === 0) socket.end()
      }
      const inUse = (): boolean => {
        const since = performance.now() - IN_USE
        for (const socket of sockets) {
          if ((socket[LAST_ENDED_AT] ?? -Infinity) > since && !socket.writableEnded) return true
        }
        return false
      }
      const linger = (seen: number, left: number): void => {
        setTimeout(() => {
          if ((arrivals === seen && !inUse()) || left === 0) end()
          else linger(arrivals, left - 1)
        }, LINGER).unref()
      }
      linger(arrivals, MAX_LINGERS)
    },
    closed: milliseconds => new Promise(resolve => {
      if (sockets.size === 0) {
        resolve()
        return
      }
      const timer = setTimeout(resolve, milliseconds)
      whenNoneIsLeft.push(() => {
        clearTimeout(timer)
        resolve()
      })
    }),
    destroy: () => {
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
      for (const socket of accepted) socket.destroy()
    }
  }
}
