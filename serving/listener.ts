/**
 * The HTTPS server under Fastify: HTTP/2 and HTTP/1.1 on one port, with bounds on what a client may make
 * it hold, and with an orderly end: `stop` refuses new connections, lets answers under way finish and
 * then closes every connection.
 */
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse, type SecureServerOptions } from 'node:http2'
import { METHODS, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TlsOptions, TLSSocket } from 'node:tls'
import { continueInTurn, readAsStream } from './wire/pipelines.js'
import { MOST_BODY_BYTES } from '../schemas/limits.js'
import { stopAccepting } from './wire/stop-accepting.js'
import { serveUpgrade } from './wire/upgrades.js'
import { Farewells } from './farewells.js'
import { serveSessions } from './sessions.js'

export interface ListenerOptions {
  readonly tls: TlsOptions
  /** Streams per HTTP/2 connection; 0 for the default, 250. */
  readonly maxStreams: number
  /** Milliseconds in which a request with its body must have arrived. */
  readonly requestTimeout: number
  /** Part of the HTTP/2 requests after which the client is asked to connect anew, 0 to 1. Default 0. */
  readonly goawayChance?: number
  /** Milliseconds until the client of a connection knows that it is to leave, and from then on until it is closed. Default 1 second, as convention. */
  readonly leave?: number
  /** Milliseconds a connection is kept that is not used. Default 90 seconds. */
  readonly idle?: number
  /** Milliseconds a connection may take to begin TLS. Default 10 seconds. */
  readonly handshake?: number
  /** Told of each connection that was closed for being one too many. */
  readonly onFull?: () => void
  /** Told of connections that failed before there was a request; for the log alone. */
  readonly onConnectionError?: (error: Error) => void
  /** Told of each TLS handshake that failed. */
  readonly onHandshakeError?: () => void
}

export interface Listener {
  readonly server: Http2SecureServer
  /** From now on connections beyond so many are closed at once; undefined for no bound but the system's, which says nothing. */
  bound: (connections: number | undefined) => void
  /**
   * No new connections. Clients are told, requests on their way are served, and each connection ends with its
   * last answer, an idle one in a moment. Idempotent.
   */
  stop: () => void
  /** Resolves when no connection is left, or after so many milliseconds. */
  closed: (milliseconds: number) => Promise<void>
  /** Ends every connection now. */
  destroy: () => void
}

/** Bytes of all headers of a request: large enough for tokens that carry many groups. */
const MAX_HEADER_BYTES = 64 * 1024
/** Milliseconds an idle connection is kept; longer than the minute that balancers and clients keep theirs. */
const IDLE = 90_000
const HANDSHAKE = 10_000
/**
 * Milliseconds between the news that the server ends and the close of idle connections: requests may be on
 * their way on them, and would be lost.
 */
const LINGER = 100
const LEAVE = 1000
/** How often it is waited again because there were, or may be on connections of HTTP/1 in use, whose clients are told by their next answer alone. */
const MOST_LINGERS = 20
/** Milliseconds since its last answer in which a connection is in use. */
const IN_USE = 1000
/** Milliseconds for the answer to what is not HTTP to leave. */
const LAST_WORDS = 5000
/** Milliseconds of silence before the system asks a peer whether it is still there. */
const KEEP_ALIVE = 30_000

/** Answers under way on a connection of HTTP/1, kept on its socket: a map of sockets would be asked twice per request. */
const UNDER_WAY = Symbol('answers under way')
/** The last of them. */
const LATEST = Symbol('latest answer')
/** When the last one was over. */
const ANSWERED = Symbol('time of the last answer')
interface Counted extends Socket { [UNDER_WAY]?: number, [LATEST]?: ServerResponse | undefined, [ANSWERED]?: number }

export function createListener (handler: RequestListener, options: ListenerOptions): Listener {
  const secure: SecureServerOptions & { strictFieldWhitespaceValidation: boolean } = {
    ...options.tls,
    // Else a header with a blank at its end is left out in silence, credentials too. Only later versions of Node know it.
    strictFieldWhitespaceValidation: false,
    allowHTTP1: true,
    handshakeTimeout: options.handshake ?? HANDSHAKE,
    noDelay: true, // as Node's server of HTTP/1 has it: else an event waits until the one before it is acknowledged
    maxHeaderListPairs: 200,
    maxSessionMemory: 64,
    settings: { maxConcurrentStreams: options.maxStreams === 0 ? 250 : options.maxStreams, maxHeaderListSize: MAX_HEADER_BYTES }
  }
  const { goawayChance = 0 } = options
  const leave = options.leave ?? LEAVE
  /** Clients are asked to leave, or may be. */
  let parting = goawayChance > 0
  let arrivals = 0
  /** Connections close as soon as they are idle. */
  let ending = false
  /** Shared by all answers of HTTP/1. */
  const answered = function (this: ServerResponse): void {
    const socket: Counted = this.req.socket
    if ((socket[UNDER_WAY] = (socket[UNDER_WAY] ?? 1) - 1) > 0) return
    socket[LATEST] = undefined
    socket[ANSWERED] = performance.now()
    if (ending) socket.end()
  }
  const known = (request: IncomingMessage, response: ServerResponse, refusal?: Refusal): void => {
    arrivals++
    if (overHttp1(request)) {
      const socket: Counted = request.socket
      socket[UNDER_WAY] = (socket[UNDER_WAY] ?? 0) + 1
      socket[LATEST] = response
      response.on('close', answered)
    } else if (parting) {
      const { stream } = response as unknown as Http2ServerResponse
      const { session } = stream
      // Not closed at once, which would reset the connection if more arrives on it.
      if (session !== undefined && Math.random() < goawayChance) farewells.say(session, () => { setTimeout(() => { session.close() }, leave).unref() })
      if (farewells.holds(stream, () => { serve(request, response, refusal) })) return
    }
    serve(request, response, refusal)
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
  // The compatibility API hands over requests that Fastify takes for those of HTTP/1.
  const server = createSecureServer(secure, known as unknown as Parameters<typeof createSecureServer>[1])
  const sessions = serveSessions(server, known, options.idle ?? IDLE)
  const farewells = new Farewells(sessions.answersOf, leave)
  server.on('checkContinue', (request, response) => {
    continueInTurn(request as unknown as IncomingMessage, response as unknown as ServerResponse, MOST_BODY_BYTES)
    known(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  server.on('checkExpectation', (request, response) => {
    known(request as unknown as IncomingMessage, response as unknown as ServerResponse, UNMET)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Counted, head: Buffer) => {
    serveUpgrade(request, socket, head, (socket[UNDER_WAY] ?? 0) > 0, known)
  })
  // Of HTTP/1; the server takes them from itself, not from its options, and its type does not know them.
  Object.assign(server, {
    maxHeaderSize: MAX_HEADER_BYTES,
    maxHeadersCount: 0, // bounded in bytes: a bound in number drops what is beyond it in silence, credentials too
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
    socket.destroy() // whatever an answer would wait for: Node leaves that to us, and keeps the connection where nobody does it
  })
  // As they were accepted; they are no sockets of TLS before their handshake is done.
  const accepted = new Set<Socket>()
  server.on('connection', socket => {
    accepted.add(socket)
    socket.once('close', () => accepted.delete(socket))
  })
  server.on('drop', () => options.onFull?.())

  return {
    server,
    bound: connections => { if (connections !== undefined) server.maxConnections = connections },
    stop: () => {
      if (stopping) return
      stopping = true
      stopAccepting(server)
      parting = true
      for (const session of sessions) farewells.say(session)
      const end = (): void => {
        ending = true
        server.close()
        for (const session of sessions) session.close()
        for (const socket of sockets) if (socket.alpnProtocol !== 'h2' && (socket[UNDER_WAY] ?? 0) === 0) socket.end()
      }
      const inUse = (): boolean => {
        const since = performance.now() - IN_USE
        for (const socket of sockets) if ((socket[ANSWERED] ?? -Infinity) > since && !socket.writableEnded) return true
        return false
      }
      const linger = (seen: number, left: number): void => {
        setTimeout(() => {
          if ((arrivals === seen && !inUse()) || left === 0) end()
          else linger(arrivals, left - 1)
        }, LINGER).unref()
      }
      linger(arrivals, MOST_LINGERS)
    },
    closed: milliseconds => new Promise(resolve => {
      if (sockets.size === 0) {
        resolve()
        return
      }
      const timer = setTimeout(resolve, milliseconds)
      server.once('close', () => {
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

/** Over HTTP/2 a method is any word; the parser of HTTP/1 refuses others by itself. */
const METHODS_KNOWN: ReadonlySet<string> = new Set(METHODS)

/** The version in its request line is what a client says, and may be another one. */
const overHttp1 = (request: IncomingMessage): boolean => !('stream' in request)

interface Refusal {
  readonly code: number
  readonly reason: string
  readonly message: string
  /** Where what follows on the connection may not be what it seems. */
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
 * The path and query of a request target, undefined for one that has none. A target may be a whole URL. What
 * a router would cut off and others would read, such as a fragment, must not get to either of them.
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

/** What is written to it now would stand in the midst of another answer. */
const amidst = ({ [UNDER_WAY]: answers = 0, [LATEST]: latest }: Counted): boolean => answers > 1 || (answers === 1 && latest?.headersSent === true)

/** Nothing can be written to it yet, and whoever waits for that waits for ever. */
const isHandshaking = (socket: Socket & { readonly secureConnecting?: boolean }): boolean => socket.secureConnecting === true

/**
 * Answers what is not HTTP with a Status, and closes. Nothing of the request is in the answer.
 * For `clientErrorHandler` of Fastify.
 */
export function answerBadRequest (error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || isHandshaking(socket) || amidst(socket)) {
    socket.destroy()
    return
  }
  const [code, phrase, message] = (Object.hasOwn(BAD_REQUESTS, error.code ?? '') ? BAD_REQUESTS[error.code ?? ''] : undefined) ??
    [400, 'Bad Request', 'the request is not valid HTTP']
  const reason = code === 408 ? 'Timeout' : 'BadRequest'
  const body = badRequestBody(code, reason, message)
  socket.end(`HTTP/1.1 ${code} ${phrase}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-cache, private\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy())
  socket.setTimeout(LAST_WORDS, () => socket.destroy()) // its client may never read them
}
