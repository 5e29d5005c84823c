/**
 * The HTTPS server under Fastify: HTTP/2 and HTTP/1.1 on one port, with bounds on what a client may make
 * it hold, and with an orderly end: `stop` refuses new connections, lets answers under way finish and
 * then closes every connection.
 */
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse, type Http2Session, type SecureServerOptions } from 'node:http2'
import { METHODS, type RequestListener, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { TlsOptions, TLSSocket } from 'node:tls'
import { serveSessions } from './sessions.js'

export interface ListenerOptions {
  readonly tls: TlsOptions
  /** Streams per HTTP/2 connection; 0 for the default, 250. */
  readonly maxStreams: number
  /** Milliseconds in which a request with its body must have arrived. */
  readonly requestTimeout: number
  /** Part of the HTTP/2 requests after which the client is asked to connect anew, 0 to 1. Default 0. */
  readonly goawayChance?: number
  /** Milliseconds a connection is kept that is not used. Default 90 seconds. */
  readonly idle?: number
  /** Told of connections that failed before there was a request; for the log alone. */
  readonly onConnectionError?: (error: Error) => void
}

export interface Listener {
  readonly server: Http2SecureServer
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
/** How often it is waited again because there were. */
const MOST_LINGERS = 20
/** In a GOAWAY: whatever is under way will be served. */
const HIGHEST_STREAM = 2 ** 31 - 1
/** Milliseconds of silence before the system asks a peer whether it is still there. */
const KEEP_ALIVE = 30_000

/** Answers under way on a connection of HTTP/1, kept on its socket: a map of sockets would be asked twice per request. */
const UNDER_WAY = Symbol('answers under way')
/** The last of them. */
const LATEST = Symbol('latest answer')
interface Counted extends Socket { [UNDER_WAY]?: number, [LATEST]?: ServerResponse | undefined }

export function createListener (handler: RequestListener, options: ListenerOptions): Listener {
  const secure: SecureServerOptions = {
    ...options.tls,
    allowHTTP1: true,
    handshakeTimeout: HANDSHAKE,
    noDelay: true, // as Node's server of HTTP/1 has it: else an event waits until the one before it is acknowledged
    maxHeaderListPairs: 200,
    maxSessionMemory: 64,
    settings: { maxConcurrentStreams: options.maxStreams === 0 ? 250 : options.maxStreams, maxHeaderListSize: MAX_HEADER_BYTES }
  }
  const { goawayChance = 0 } = options
  let arrivals = 0
  /** Connections close as soon as they are idle. */
  let ending = false
  /** Shared by all answers of HTTP/1. */
  const answered = function (this: ServerResponse): void {
    const socket: Counted = this.req.socket
    if ((socket[UNDER_WAY] = (socket[UNDER_WAY] ?? 1) - 1) > 0) return
    socket[LATEST] = undefined
    if (ending) socket.end()
  }
  const known: RequestListener = (request, response) => {
    arrivals++
    if (request.httpVersionMajor === 1) {
      const socket: Counted = request.socket
      socket[UNDER_WAY] = (socket[UNDER_WAY] ?? 0) + 1
      socket[LATEST] = response
      response.on('close', answered)
    } else if (goawayChance > 0 && Math.random() < goawayChance) {
      // Streams that are open go on; the client opens its next one elsewhere, through a balancer perhaps at another server.
      sessionOf(response)?.close()
    }
    const { url = '' } = request
    const path = url.startsWith('/') && !url.includes('#') ? url : originForm(url)
    if (request.httpVersionMajor === 2 && !METHODS_KNOWN.has(request.method ?? '')) {
      refuse(response, 405, 'MethodNotAllowed', 'the request has an unknown method')
    } else if (path === undefined) {
      refuse(response, 400, 'BadRequest', 'the request target is neither a path nor a URL, or has a fragment')
    } else {
      if (path !== url) request.url = path
      handler(request, response)
    }
  }
  // The compatibility API hands over requests that Fastify takes for those of HTTP/1.
  const server = createSecureServer(secure, known as unknown as Parameters<typeof createSecureServer>[1])
  const sessions = serveSessions(server, known, options.idle ?? IDLE)
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
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('session', session => { if (ending) session.close() })
  for (const event of ['tlsClientError', 'sessionError'] as const) server.on(event, (error: Error) => options.onConnectionError?.(error))

  return {
    server,
    stop: () => {
      if (stopping) return
      stopping = true
      // Not the server's own close, which would end idle connections at once: that comes below.
      if (server.listening) NetServer.prototype.close.call(server)
      for (const session of sessions) if (!session.destroyed) session.goaway(0, HIGHEST_STREAM)
      const end = (): void => {
        ending = true
        server.close()
        for (const session of sessions) session.close()
        for (const socket of sockets) if (socket.alpnProtocol !== 'h2' && (socket[UNDER_WAY] ?? 0) === 0) socket.end()
      }
      const linger = (seen: number, left: number): void => {
        setTimeout(() => {
          if (arrivals === seen || left === 0) end()
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
    }
  }
}

/** Of an answer over HTTP/2. */
const sessionOf = (response: ServerResponse): Http2Session | undefined => (response as unknown as Http2ServerResponse).stream.session

/** Over HTTP/2 a method is any word; the parser of HTTP/1 refuses others by itself. */
const METHODS_KNOWN: ReadonlySet<string> = new Set(METHODS)

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

function refuse (response: ServerResponse, code: number, reason: string, message: string): void {
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

/**
 * Answers what is not HTTP with a Status, and closes. Nothing of the request is in the answer.
 * For `clientErrorHandler` of Fastify.
 */
export function answerBadRequest (error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || amidst(socket)) {
    socket.destroy()
    return
  }
  const [code, phrase, message] = (Object.hasOwn(BAD_REQUESTS, error.code ?? '') ? BAD_REQUESTS[error.code ?? ''] : undefined) ??
    [400, 'Bad Request', 'the request is not valid HTTP']
  const reason = code === 408 ? 'Timeout' : 'BadRequest'
  const body = badRequestBody(code, reason, message)
  socket.end(`HTTP/1.1 ${code} ${phrase}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-cache, private\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy())
}
