/**
 * gRPC over one HTTP/2 connection to one server, limited to what reads, writes and watches need: a general gRPC client
 * costs two to three times the CPU per call.
 */
import http2 from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import type { ClientCertificate, TlsPair } from './client-certificate.js'
import { CallError } from './failures.js'

export interface Credentials {
  readonly ca: Buffer | undefined
  readonly client: ClientCertificate
}

export interface MessageStream {
  /** One framed message. */
  write: (message: Buffer) => void
  cancel: () => void
}

export interface StreamListener {
  message: (message: Buffer) => void
  /** Called once, however the stream ends. */
  end: (error: Error) => void
}

interface Pending {
  readonly deadline: number
  readonly expire: () => void
}

/** Pings detect dead connections; etcd allows one in five seconds, and none on idle connections. */
const PING_INTERVAL_MS = 10_000
const PONG_TIMEOUT_MS = 5_000
const SWEEP_MS = 100

const SESSION_WINDOW = 8 * 1024 * 1024
const STREAM_WINDOW = 2 * 1024 * 1024
const MAX_MESSAGE_BYTES = 2 ** 31 - 1
const FRAME_BYTES = 5

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = http2.constants

/** The host of a URL, IPv6 addresses without brackets. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

export class Transport {
  readonly server: string
  readonly #url: string
  readonly #credentials: Credentials | undefined
  readonly #connectTime: number
  readonly #socketPath: string | undefined
  #session: http2.ClientHttp2Session | undefined
  #connecting: Promise<http2.ClientHttp2Session> | undefined
  readonly #pending = new Set<Pending>()
  #sweeper: NodeJS.Timeout | undefined
  #pinger: NodeJS.Timeout | undefined
  #streams = 0
  #closed = false

  /**
   * @param credentials undefined for unencrypted connections
   * @param connectTime connection timeout in milliseconds
   * @param socketPath of a socket that leads to the server
   */
  constructor (server: string, credentials: Credentials | undefined, connectTime: number, socketPath?: string) {
    this.server = server
    this.#url = server.includes('://') ? server : `http://${server}`
    this.#credentials = credentials
    this.#connectTime = connectTime
    this.#socketPath = socketPath
  }

  /**
   * A unary call.
   * @param path of the call, `/package.Service/Method`
   * @param deadline on the scale of `performance.now()`
   * @throws CallError
   */
  async call (path: string, message: Buffer, deadline: number): Promise<Buffer> {
    const session = this.#ready() ?? await this.#connect()
    return await new Promise((resolve, reject) => {
      const stream = this.#request(session, path)
      const response = new ResponseReader(this.server)
      const pending = {
        deadline,
        expire: () => {
          stream.close(NGHTTP2_CANCEL)
          settle(() => reject(new CallError(Object.assign(new Error('no answer in time'), { code: 4 }), this.server)))
        }
      }
      const settle = (outcome: () => void) => {
        if (this.#pending.delete(pending)) outcome()
      }
      this.#pending.add(pending)
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS)
      stream.on('response', headers => response.headers(headers))
      stream.on('trailers', headers => response.headers(headers))
      stream.on('data', (chunk: Buffer) => response.chunk(chunk))
      stream.on('error', error => { response.error = error })
      stream.on('close', () => {
        settle(() => {
          try {
            resolve(response.message(stream.rstCode))
          } catch (error) {
            reject(error)
          }
        })
      })
      stream.end(message)
    })
  }

  /** Opens a bidirectional stream of messages. @throws CallError if there is no connection */
  async open (path: string, listener: StreamListener, metadata: Record<string, string> = {}): Promise<MessageStream> {
    const session = this.#ready() ?? await this.#connect()
    const stream = this.#request(session, path, metadata)
    const response = new ResponseReader(this.server)
    this.#streams++
    this.#pinger ??= setInterval(() => this.#ping(), PING_INTERVAL_MS).unref()
    stream.on('response', headers => response.headers(headers))
    stream.on('trailers', headers => response.headers(headers))
    stream.on('error', error => { response.error = error })
    stream.on('data', (chunk: Buffer) => {
      response.chunk(chunk)
      try {
        for (let message = response.take(); message !== undefined; message = response.take()) listener.message(message)
      } catch (error) {
        response.error = error instanceof Error ? error : new Error(String(error))
        stream.close(NGHTTP2_CANCEL)
      }
    })
    stream.on('close', () => {
      this.#streams--
      listener.end(response.failure(stream.rstCode))
    })
    return {
      write: message => { stream.write(message) },
      cancel: () => stream.close(NGHTTP2_CANCEL)
    }
  }

  close (): void {
    this.#closed = true
    clearInterval(this.#pinger)
    this.#session?.destroy()
  }

  #request (
    session: http2.ClientHttp2Session, path: string, metadata: Record<string, string> = {}
  ): http2.ClientHttp2Stream {
    try {
      return session.request({
        ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...metadata
      })
    } catch (error) {
      throw this.#notSent(error)
    }
  }

  #ready (): http2.ClientHttp2Session | undefined {
    const session = this.#session
    return session === undefined || session.closed || session.destroyed ? undefined : session
  }

  async #connect (): Promise<http2.ClientHttp2Session> {
    this.#connecting ??= this.#newSession().finally(() => { this.#connecting = undefined })
    try {
      return await this.#connecting
    } catch (error) {
      throw this.#notSent(error)
    }
  }

  #notSent (error: unknown): CallError {
    return new CallError(error instanceof Error ? error : new Error(String(error)), this.server, false)
  }

  async #newSession (): Promise<http2.ClientHttp2Session> {
    const pair = await this.#credentials?.client.current()
    return await new Promise((resolve, reject) => {
      if (this.#closed) throw new Error('closed')
      const socket = this.#socket(pair)
      const session = http2.connect(this.#url, {
        createConnection: () => socket,
        settings: { enablePush: false, initialWindowSize: STREAM_WINDOW }
      })
      const fail = (error: Error) => {
        clearTimeout(timer)
        if (this.#session === session) this.#session = undefined
        session.destroy()
        socket.destroy()
        // A no-op once connected: pending calls then fail with their streams.
        reject(error)
      }
      const timer = setTimeout(() => fail(new Error('no connection in time')), this.#connectTime)
      // Not 'connect': with TLS 1.3 a server refuses a client certificate only after the handshake.
      session.once('remoteSettings', () => {
        clearTimeout(timer)
        session.setLocalWindowSize(SESSION_WINDOW)
        if (this.#closed) fail(new Error('closed'))
        else this.#session = session
        resolve(session)
      })
      // The session does not forward all errors of its socket, so listen to both.
      session.on('error', fail)
      session.on('close', () => fail(new Error('the connection was closed')))
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('the connection was closed')))
    })
  }

  #socket (pair: TlsPair | undefined): net.Socket {
    const { protocol, port } = new URL(this.#url)
    const host = hostOf(this.#url)
    const path = this.#socketPath
    if (protocol !== 'https:') return path === undefined ? net.connect(Number(port || 80), host) : net.connect(path)
    return tls.connect({
      ca: this.#credentials?.ca,
      ...pair,
      host,
      ...(path === undefined ? { port: Number(port || 443) } : { path }),
      ALPNProtocols: ['h2'],
      // IP addresses are checked against the certificate but must not be sent as server name.
      ...(net.isIP(host) === 0 ? { servername: host } : {})
    })
  }

  #sweep (): void {
    const now = performance.now()
    for (const pending of this.#pending) if (pending.deadline <= now) pending.expire()
    if (this.#pending.size > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }

  #ping (): void {
    const session = this.#ready()
    if (this.#streams === 0 || session === undefined) {
      clearInterval(this.#pinger)
      this.#pinger = undefined
      return
    }
    const timer = setTimeout(() => session.destroy(new Error('the connection is dead')), PONG_TIMEOUT_MS).unref()
    session.ping(() => clearTimeout(timer))
  }
}

/** Reads the response of one stream. */
class ResponseReader {
  error: Error | undefined
  readonly #server: string
  #chunks: Buffer[] = []
  #bytes = 0
  #httpStatus = 0
  #status: number | undefined
  #reason = ''

  constructor (server: string) {
    this.#server = server
  }

  headers (headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader): void {
    if (headers[':status'] !== undefined) this.#httpStatus = headers[':status']
    const status = headers['grpc-status']
    if (status === undefined) return
    this.#status = Number(status)
    this.#reason = unescapeMessage(String(headers['grpc-message'] ?? ''))
  }

  chunk (chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** The next complete message, if any. */
  take (): Buffer | undefined {
    if (this.#bytes < FRAME_BYTES) return undefined
    const head = this.#headOf(FRAME_BYTES)
    const length = head.readUInt32BE(1)
    if (head[0] !== 0) throw new Error('a compressed message, which was not requested')
    if (length > MAX_MESSAGE_BYTES) throw new Error(`a message of ${length} bytes`)
    if (this.#bytes < FRAME_BYTES + length) return undefined
    const all = this.#headOf(FRAME_BYTES + length)
    const rest = all.subarray(FRAME_BYTES + length)
    this.#chunks[0] = rest
    if (rest.length === 0) this.#chunks.shift()
    this.#bytes -= FRAME_BYTES + length
    return all.subarray(FRAME_BYTES, FRAME_BYTES + length)
  }

  /** The message of a completed call. @throws CallError if there is none */
  message (resetCode: number): Buffer {
    const message = this.#status === 0 ? this.take() : undefined
    if (message === undefined) throw this.failure(resetCode)
    return message
  }

  failure (resetCode: number): CallError {
    if (this.#status !== undefined && this.#status !== 0) {
      return new CallError(Object.assign(new Error(this.#reason), { code: this.#status }), this.#server)
    }
    const refused = resetCode === NGHTTP2_REFUSED_STREAM
    // A non-gRPC response had no effect, except from gateways, which may have forwarded the call.
    const notGrpc = this.#httpStatus !== 0 && this.#httpStatus !== 200 &&
      (this.#httpStatus < 502 || this.#httpStatus > 504)
    const why = notGrpc
      ? new Error(`an answer with HTTP status ${this.#httpStatus}`)
      : this.error ?? new Error('the connection was lost')
    return new CallError(why, this.#server, !refused && !notGrpc)
  }

  /** The first chunk, extended to at least that many received bytes. */
  #headOf (length: number): Buffer {
    const first = this.#chunks[0]
    if (first !== undefined && first.length >= length) return first
    const joined = Buffer.concat(this.#chunks)
    this.#chunks = [joined]
    return joined
  }
}

/** gRPC percent-encodes messages; malformed ones are returned unchanged. */
function unescapeMessage (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
