/**
 * The HTTPS server under Fastify: HTTP/2 and HTTP/1.1 on one port, limits on clients, and graceful shutdown: `stop` rejects new
 * connections, lets active responses finish, then closes all connections.
 */
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse, type SecureServerOptions, type ServerHttp2Stream } from 'node:http2'
import { METHODS, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TlsOptions, TLSSocket } from 'node:tls'
import { continueInTurn, currentResponse, readAsStream } from './wire/pipelines.js'
import { MAX_BODY_BYTES } from '../schemas/limits.js'
import { afterPoll } from '../storage/batching.js'
import { stopAccepting } from './wire/stop-accepting.js'
import { serveUpgrade } from './wire/upgrades.js'
import { GracefulGoaway } from './goaway.js'
import { serveSessions } from './sessions.js'

export interface ListenerOptions {
  readonly tls: TlsOptions
  /** Streams per HTTP/2 connection; 0 means the default, 250. */
  readonly maxStreams: number
  /** Milliseconds in which a request and its body must arrive. */
  readonly requestTimeout: number
  /** Probability, 0 to 1, that an HTTP/2 request makes its client reconnect. Default 0. */
  readonly goawayChance?: number
  /** Maximum milliseconds until the client gets the GOAWAY, and from then until its connection is closed. Default 1 second, as upstream. */
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
  /** Stops accepting connections. Clients are notified, pending requests served, and each connection closes after its last response. Idempotent. */
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
/** Maximum repetitions of LINGER while requests arrive. HTTP/1 clients learn of the shutdown only from their next response. */
const MAX_LINGERS = 20
/** Milliseconds after its last response during which an HTTP/1 connection counts as in use. */
const IN_USE = 1000
/** Milliseconds to send the response to invalid HTTP. */
const REFUSAL_TIMEOUT = 5000
/** Milliseconds of silence before TCP keep-alive probes. */
const KEEP_ALIVE = 30_000

/** Active responses of an HTTP/1 connection, stored on its socket. */
const ACTIVE = Symbol('answers under way')
/** The latest active response. */
const LATEST = Symbol('latest answer')
/** When the last response ended. */
const LAST_ENDED_AT = Symbol('time of the last answer')
interface Counted extends Socket { [ACTIVE]?: number, [LATEST]?: ServerResponse | undefined, [LAST_ENDED_AT]?: number }

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
    settings: { maxConcurrentStreams: options.maxStreams === 0 ? 250 : options.maxStreams, maxHeaderListSize: MAX_HEADER_BYTES }
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
        if (session !== undefined && Math.random() < goawayChance) goaway.send(session, () => { setTimeout(() => { session.close() }, leave).unref() })
        if (goaway.holds(stream, () => { serve(request, response, refusal) })) return
      }
    }
    // Skip requests that have closed: their seat would never be released. Compatibility responses do not know it.
    const target = stream ?? response
    // Node up to 26.10 closes the connection at the end of the read that completes a handshake with a badly signed certificate. Serve the first request at once,
    // so that its 401 is sent.
    if (isFirst || refusal !== undefined) serve(request, response, refusal)
    else afterPoll(() => { if (!target.destroyed) serve(request, response, refusal) })
  }
  const serve = (request: IncomingMessage, response: ServerResponse, refusal: Refusal | undefined = refusalOf(request)): void => {
    const { url = '' } = request
    const path = url.startsWith('/') && !url.includes('#') ? url : originForm(url)
    if (refusal !== undefined) {
      refuse(response, refusal)
    } else if (path === undefined) {
      refuse(response, { code: 400, reason: 'BadRequest', message: 'the request target is neither a path nor a URL, or has a fragment' })
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
    serveUpgrade(request, socket, head, (socket[ACTIVE] ?? 0) > 0, dispatch)
  })
  // HTTP/1 settings: Node reads them from the server object, but its type lacks them.
  Object.assign(server, {
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
    socket.destroy() // Node leaves this to the listener; the connection would stay open
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
        for (const socket of sockets) if ((socket[LAST_ENDED_AT] ?? -Infinity) > since && !socket.writableEnded) return true
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

/** HTTP/2 allows any method name; the HTTP/1 parser rejects unknown ones. */
const METHODS_KNOWN: ReadonlySet<string> = new Set(METHODS)

/** The request line's version is client input and cannot decide this. */
const overHttp1 = (request: IncomingMessage): boolean => !('stream' in request)

interface Refusal {
  readonly code: number
  readonly reason: string
  readonly message: string
  /** True if the rest of the connection cannot be trusted. */
  readonly closes?: boolean
}

const UNMET: Refusal = { code: 417, reason: 'BadRequest', message: 'the request expects something other than 100-continue', closes: true }
const TOO_OLD: Refusal = { code: 400, reason: 'BadRequest', message: 'the request names no version of HTTP, or 0.9', closes: true }
const TOO_NEW: Refusal = { code: 505, reason: 'BadRequest', message: 'this connection speaks HTTP/1.1; HTTP/2 is agreed on with TLS', closes: true }
const NO_METHOD: Refusal = { code: 405, reason: 'MethodNotAllowed', message: 'the request has an unknown method' }

function refusalOf (request: IncomingMessage): Refusal | undefined {
  if (!overHttp1(request)) return METHODS_KNOWN.has(request.method ?? '') ? undefined : NO_METHOD
  const { httpVersionMajor: major } = request
  return major === 1 ? undefined : major < 1 ? TOO_OLD : TOO_NEW
}

export const badRequestBody = (code: number, reason: string, message: string): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })

/**
 * Path and query of a request target, which may be an absolute URL; undefined if invalid. Fragments are rejected, because routers and other
 * readers treat them differently.
 */
export function originForm (target: string): string | undefined {
  if (target.includes('#')) return undefined
  if (target.startsWith('/') || target === '*') return target
  const path = /^https?:\/\/[^/?]+(.*)$/i.exec(target)?.[1]
  return path === undefined || path.startsWith('/') ? path : `/${path}`
}

function refuse (response: ServerResponse, { code, reason, message, closes = false }: Refusal): void {
  if (closes) response.shouldKeepAlive = false
  const body = badRequestBody(code, reason, message)
  response.writeHead(code, { 'content-type': 'application/json', 'cache-control': 'no-cache, private', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

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
