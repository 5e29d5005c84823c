/**
 * HTTP/2 responses on Node's core streams. With core-request.ts, this implements the parts of `ServerResponse` and
 * `IncomingMessage` that Fastify and handlers use, with HTTP/1 semantics, and only two stream listeners: error and
 * close. Benchmark: `npm run bench -- h2`, 'GET, 16 connections × 16 streams, HTTP/2, embedded': 1.15 to 1.24 times as
 * much with Node's compatibility classes. Not implemented, because unused: trailers, pushes, informational responses,
 * status messages.
 */
import { EventEmitter } from 'node:events'
import { constants, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2'
import { validateHeaderName, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { CoreRequest } from './core-request.js'

/** Headers that are invalid in HTTP/2. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection', 'upgrade', 'http2-settings', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te'
])
/** Header names already validated. Only server code names headers, so the set stays small. */
const names = new Set<string>()
const MAX_NAMES = 500
/** Characters that are invalid in a header value. */
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/

type Callback = (error?: Error | null) => void

/**
 * A response. 'finish' is emitted when all of it was handed to the connection, 'close' when nothing more can be sent.
 */
export class CoreResponse extends EventEmitter {
  readonly stream: ServerHttp2Stream
  readonly req: CoreRequest
  statusCode = 200
  sendDate = true
  /** `writeHead` was called, or data written. */
  headersSent = false
  /** `end` was called. */
  writableEnded = false
  destroyed = false
  /** Marks the object as a writable stream; see `writableEnded` for its state. */
  readonly writable = true
  #headers: OutgoingHttpHeaders | undefined
  #closed = false
  /** The head was sent. */
  #begun = false
  /** HEAD, 204 and 304 have no body: written data is discarded, as over HTTP/1. */
  #bodyless = false
  #drains = false

  constructor (stream: ServerHttp2Stream, request: CoreRequest) {
    super()
    this.stream = stream
    this.req = request
    request.connectionState.open++
    stream.on('error', ignore)
    stream.on('close', () => { this.#close() })
  }

  get finished (): boolean { return this.writableEnded }
  /** A stream reset by the client has finished, but its response has not. */
  get writableFinished (): boolean { return this.writableEnded && this.stream.writableFinished && !this.stream.aborted }
  /** For `stream.finished`, which would make an error, and its stack, for each response that is cut. */
  get writableErrored (): Error | null { return this.#closed && !this.writableFinished ? CUT : null }
  get writableLength (): number { return this.stream.writableLength }
  get writableHighWaterMark (): number { return this.stream.writableHighWaterMark }
  get writableNeedDrain (): boolean { return this.stream.writableNeedDrain }
  get closed (): boolean { return this.#closed }
  /** Null after close, as over HTTP/1. */
  get socket (): Socket | null { return this.#closed ? null : this.req.socket }
  get connection (): Socket | null { return this.socket }

  getHeader (name: string): OutgoingHttpHeader | undefined { return this.#headers?.[name.toLowerCase()] }
  getHeaderNames (): string[] { return Object.keys(this.#headers ?? {}) }
  getHeaders (): OutgoingHttpHeaders { return { ...this.#headers } }
  hasHeader (name: string): boolean {
    return this.#headers !== undefined && Object.hasOwn(this.#headers, name.toLowerCase())
  }

  /** @throws TypeError for an invalid name or value; Error ERR_HTTP_HEADERS_SENT */
  setHeader (name: string, value: OutgoingHttpHeader): this {
    if (this.headersSent) throw sentAlready()
    this.#headers ??= {}
    put(this.#headers, name, value)
    return this
  }

  /** Adds to existing values. */
  appendHeader (name: string, value: string | readonly string[]): this {
    const before = this.getHeader(name)
    const added = typeof value === 'string' ? [value] : value
    // the array is not modified
    return this.setHeader(name, before === undefined
      ? value as string | string[]
      : [...(Array.isArray(before) ? before : [String(before)]), ...added])
  }

  removeHeader (name: string): void {
    if (this.headersSent) throw sentAlready()
    if (this.#headers !== undefined) delete this.#headers[name.toLowerCase()]
  }

  /** The head is sent with the first data or `flushHeaders`. @throws as setHeader */
  writeHead (
    statusCode: number, phraseOrHeaders?: string | OutgoingHttpHeaders,
    headers: OutgoingHttpHeaders | undefined = typeof phraseOrHeaders === 'object' ? phraseOrHeaders : undefined
  ): this {
    if (this.headersSent) throw sentAlready()
    this.statusCode = statusCode
    const all = this.#headers ??= {}
    if (headers !== undefined) for (const name in headers) put(all, name, headers[name])
    this.headersSent = true
    return this
  }

  flushHeaders (): void {
    if (!this.#begun) this.#begin('open')
  }

  /**
   * A streamed response waits for trailers before it ends its stream. Otherwise an aborted one would end normally, and
   * look complete.
   */
  #begin (end: 'empty' | 'next' | 'open'): void {
    const { stream, statusCode } = this
    this.headersSent = this.#begun = true
    if (this.#closed || stream.destroyed || stream.closed) return
    const headers = this.#headers ?? {}
    headers[':status'] = statusCode
    this.#bodyless = this.req.method === 'HEAD' || statusCode === 204 || statusCode === 304
    const waitForTrailers = end === 'open' && !this.#bodyless
    if (waitForTrailers) stream.on('wantTrailers', () => { if (this.writableEnded) stream.sendTrailers({}) })
    const options: ServerStreamResponseOptions & { sendDate: boolean } = {
      endStream: end === 'empty' || this.#bodyless, sendDate: this.sendDate, waitForTrailers
    }
    stream.respond(headers, options)
  }

  /** Returns false if the client is slow; 'drain' follows. */
  write (chunk: string | Uint8Array, encoding?: BufferEncoding | Callback | null, then?: Callback): boolean {
    if (typeof encoding === 'function') return this.write(chunk, undefined, encoding)
    if (this.writableEnded) return refuse(then, 'ERR_STREAM_WRITE_AFTER_END', 'write after end')
    if (this.#closed || this.destroyed) return refuse(then, 'ERR_STREAM_DESTROYED', 'the stream is closed')
    if (!this.#begun) this.#begin('open')
    if (!this.#bodyless) return this.stream.write(chunk, encoding ?? 'utf8', then)
    if (then !== undefined && then !== null) process.nextTick(then)
    return true
  }

  end (
    chunk?: string | Uint8Array | Callback | null, encoding?: BufferEncoding | Callback | null, then?: Callback | null
  ): this {
    if (typeof chunk === 'function') return this.end(undefined, undefined, chunk)
    if (typeof encoding === 'function') return this.end(chunk, undefined, encoding)
    if (this.writableEnded) {
      if (typeof then === 'function') process.nextTick(then)
      return this
    }
    this.writableEnded = true
    if (typeof then === 'function') this.once('finish', then)
    const empty = chunk === undefined || chunk === null || chunk.length === 0
    if (!this.#begun) this.#begin(empty ? 'empty' : 'next')
    if (this.#closed || this.stream.destroyed) return this
    if (empty || this.#bodyless) this.stream.end()
    else if (typeof chunk === 'string') this.stream.end(chunk, encoding ?? 'utf8')
    else this.stream.end(chunk)
    return this
  }

  cork (): void { this.stream.cork() }
  uncork (): void { this.stream.uncork() }

  setTimeout (milliseconds: number, then?: () => void): this {
    this.stream.setTimeout(milliseconds, then)
    return this
  }

  /**
   * Ends the stream, not its connection. An incomplete response is reset with an error, so that clients do not take it
   * for complete.
   */
  destroy (error?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    const { stream } = this
    if (stream.destroyed) return this
    if (!this.writableFinished && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    stream.destroy(error)
    return this
  }

  override on (event: string | symbol, listener: (...args: never[]) => void): this {
    this.#follow(event)
    return super.on(event, listener as (...args: unknown[]) => void) // the base class accepts any listener
  }

  override once (event: string | symbol, listener: (...args: never[]) => void): this {
    this.#follow(event)
    return super.once(event, listener as (...args: unknown[]) => void)
  }

  override addListener (event: string | symbol, listener: (...args: never[]) => void): this {
    return this.on(event, listener)
  }

  override prependListener (event: string | symbol, listener: (...args: never[]) => void): this {
    this.#follow(event)
    return super.prependListener(event, listener as (...args: unknown[]) => void)
  }

  /** Adds the stream listener only on demand: most responses fit into the window. */
  #follow (event: string | symbol): void {
    if (event !== 'drain' || this.#drains) return
    this.#drains = true
    this.stream.on('drain', () => { this.emit('drain') })
  }

  #close (): void {
    this.#closed = true
    this.req.connectionState.open--
    const { req: request, stream } = this
    if (stream.aborted) {
      request.aborted = true
      if (request.listenerCount('aborted') > 0) request.emit('aborted')
    }
    if (this.writableFinished) this.emit('finish')
    this.destroyed = request.destroyed = true
    this.emit('close')
    request.emit('close')
  }
}

function ignore (): void {} // a disconnect is reported by 'close'

function put (headers: OutgoingHttpHeaders, given: string, value: OutgoingHttpHeader | undefined): void {
  const name = given.toLowerCase()
  if (!names.has(name)) {
    if (OF_CONNECTIONS.has(name)) return
    validateHeaderName(name) // also rejects pseudo-headers, because of their colon
    if (names.size < MAX_NAMES) names.add(name)
  }
  if (value === undefined) throw coded(TypeError, 'ERR_HTTP_INVALID_HEADER_VALUE', `the header ${name} has no value`)
  if (typeof value === 'string') check(name, value)
  else if (typeof value === 'object') for (const element of value) check(name, element)
  headers[name] = value
}

function check (name: string, value: string): void {
  if (NO_VALUE.test(value)) {
    throw coded(TypeError, 'ERR_INVALID_CHAR', `the header ${name} has a character that no header has`)
  }
}

function coded (Kind: ErrorConstructor | TypeErrorConstructor, code: string, message: string): Error {
  return Object.assign(new Kind(message), { code })
}

/** As Node's, but shared: opening and cancelling a watch costs a tenth less. */
const CUT = coded(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close')

const sentAlready = (): Error => coded(Error, 'ERR_HTTP_HEADERS_SENT', 'the headers have been sent')

function refuse (then: Callback | undefined, code: string, message: string): false {
  if (typeof then === 'function') process.nextTick(then, coded(Error, code, message))
  return false
}
