/**
 * An HTTP/2 request without a body on Node's core stream: the subset of `IncomingMessage` that Fastify and handlers
 * use. Its response is in core-response.ts.
 */
import { EventEmitter } from 'node:events'
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** State of a connection, shared by its requests. */
export interface ConnectionState {
  readonly socket: Socket
  /** Responses in progress. */
  open: number
}

/** A request without a body: readers get the end immediately. A real stream would cost as much as the response. */
export class CoreRequest extends EventEmitter {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  readonly connectionState: ConnectionState
  readonly method: string
  url: string
  /** True if the client cancelled before the response was complete. */
  aborted = false
  destroyed = false
  readableEnded = false
  #read = false

  constructor (
    stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[], connectionState: ConnectionState
  ) {
    super()
    this.stream = stream
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.connectionState = connectionState
    this.method = String(headers[':method'])
    this.url = String(headers[':path'])
  }

  get httpVersion (): string { return '2.0' }
  get httpVersionMajor (): number { return 2 }
  get httpVersionMinor (): number { return 0 }
  get complete (): boolean { return true }
  get readable (): boolean { return !this.readableEnded && !this.destroyed }
  get trailers (): Record<string, string> { return {} }
  get rawTrailers (): string[] { return [] }
  get authority (): string { return String(this.headers[':authority'] ?? this.headers.host ?? '') }
  get scheme (): string { return String(this.headers[':scheme'] ?? '') }
  get socket (): Socket { return this.connectionState.socket }
  get connection (): Socket { return this.socket }

  read (): null {
    this.resume()
    return null
  }

  resume (): this {
    if (this.#read) return this
    this.#read = true
    process.nextTick(() => {
      if (this.destroyed) return
      this.readableEnded = true
      this.emit('end')
    })
    return this
  }

  pause (): this { return this }
  setEncoding (): this { return this }
  unpipe (): this { return this }

  pipe<T extends NodeJS.WritableStream> (destination: T): T {
    this.once('end', () => { destination.end() })
    return destination
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<never> { this.resume() }

  override on (event: string | symbol, listener: (...args: never[]) => void): this {
    super.on(event, listener as (...args: unknown[]) => void) // the base class accepts any listener
    if (event === 'data' || event === 'end' || event === 'readable') this.resume()
    return this
  }

  override once (event: string | symbol, listener: (...args: never[]) => void): this {
    super.once(event, listener as (...args: unknown[]) => void)
    if (event === 'data' || event === 'end' || event === 'readable') this.resume()
    return this
  }

  override addListener (event: string | symbol, listener: (...args: never[]) => void): this {
    return this.on(event, listener)
  }

  setTimeout (milliseconds: number, then?: () => void): this {
    this.stream.setTimeout(milliseconds, then)
    return this
  }

  /** Resets the stream, and with it the response. */
  destroy (error?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    if (!this.stream.destroyed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    this.stream.destroy(error)
    return this
  }
}
