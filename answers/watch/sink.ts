/**
 * Sends the bytes of a watch with as little overhead as possible: over HTTP/2 to the core stream, over HTTP/1.1 to the
 * socket with chunk framing shared by all watchers. If neither is available (a response behind another one on its
 * connection, an injected request), it writes to the response. Benchmark: `npm run bench -- watch`, 'one event at a
 * time to 1,000 watchers, HTTP/1.1': 1.1 to 1.2 times as much without it.
 */
import type { Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { ByteRate } from '../../serving/wire/byte-rate.js'
import type { BodyOutput } from '../body.js'
import { endRawChunks, startRawChunks } from '../../serving/wire/raw-bodies.js'

/** A connection that accepts no bytes for this long while some are pending is closed, at most twice this time later. */
export const STALLED_MS = 60_000
const NO_BYTES = new Uint8Array(0)

const unlessFailed = (sent?: () => void) => (error?: Error | null): void => { if (!error) sent?.() }

export interface SinkListener {
  /** The client has caught up. */
  drained: () => void
  /** The response has ended: the client disconnected or was too slow. Called once. */
  closed: () => void
}

export class Sink {
  readonly #raw: BodyOutput
  readonly #stream: ServerHttp2Stream | undefined
  readonly #out: Writable
  readonly #listener: SinkListener
  readonly #stalledMs: number
  readonly #rate: ByteRate | undefined
  /** Whether written bytes must be framed with `chunk`. */
  readonly chunked: boolean
  /** True while the client is behind, until `drained`. */
  blocked = false
  #armed = false
  #listening = false
  #ended = false
  /** Writes to the response that have not called back. */
  #unsent = 0
  /** Bytes delayed by the rate limit. */
  #held: Uint8Array = NO_BYTES
  #pause: NodeJS.Timeout | undefined

  /**
   * @param raw a response whose head has been sent
   * @param perSecond bytes per second; 0 for no limit
   */
  constructor (raw: BodyOutput, listener: SinkListener, stalledMs = STALLED_MS, perSecond = 0) {
    this.#raw = raw
    this.#listener = listener
    this.#stalledMs = stalledMs
    if (perSecond > 0) this.#rate = new ByteRate(perSecond)
    raw.flushHeaders()
    const stream = this.#stream = (raw as unknown as Partial<Http2ServerResponse>).stream
    const socket = stream === undefined ? startRawChunks(raw) : undefined
    this.chunked = socket !== undefined
    this.#out = stream ?? socket ?? raw
    raw.on('error', () => { listener.closed() })
    raw.once('close', () => {
      clearTimeout(this.#pause)
      listener.closed()
    })
  }

  /**
   * Returns false if the client is behind.
   * @param sent called once the bytes are no longer needed, unless the rate is limited or the connection ends
   */
  write (chunk: Uint8Array, sent?: () => void): boolean {
    // The client has closed its side and the connection is closing.
    if (!this.#out.writable) return true
    if (this.#rate === undefined) return this.#send(chunk, sent)
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    if (!this.blocked) this.#pace(this.#rate)
    return !this.blocked
  }

  /** Sends what the rate allows; if bytes remain, the client counts as behind until more may be sent. */
  #pace (rate: ByteRate): void {
    while (this.#held.length > 0 && this.#out.writable) {
      const { piece, wait } = rate.take(this.#held.length)
      if (wait > 0) {
        this.blocked = true
        this.#pause = setTimeout(() => { this.#drained() }, wait).unref()
        return
      }
      const bytes = this.#held.subarray(0, piece)
      this.#held = this.#held.subarray(piece)
      if (!this.#send(bytes)) return
    }
    this.#held = NO_BYTES
  }

  #send (chunk: Uint8Array, sent?: () => void): boolean {
    if (this.#out === this.#raw as Writable) return this.#writeToResponse(chunk, sent)
    if (sent === undefined ? this.#out.write(chunk) : this.#out.write(chunk, unlessFailed(sent))) return true
    if (this.blocked) return false
    this.blocked = true
    this.#arm()
    this.#out.once('drain', () => { this.#drained() })
    return false
  }

  /**
   * Uses write callbacks, because Node also emits a response's 'drain' when a later one on the connection buffers
   * bytes.
   */
  #writeToResponse (chunk: Uint8Array, sent?: () => void): boolean {
    this.#unsent++
    const called = unlessFailed(sent)
    const done = sent === undefined
      ? this.#sent
      : (error?: Error | null) => {
          called(error)
          this.#sent()
        }
    if (this.#raw.write(chunk, done)) return true
    this.blocked = true
    this.#arm()
    return false
  }

  readonly #sent = (): void => {
    if (--this.#unsent === 0 && this.blocked) this.#drained()
  }

  #drained (): void {
    this.blocked = false
    if (this.#held.length > 0 && this.#rate !== undefined) {
      this.#pace(this.#rate)
      if (this.#ended && this.#held.length === 0) this.#finish()
    }
    if (!this.blocked && !this.#ended) this.#listener.drained() // after the end the connection serves another response
  }

  /** Ends the response once pending bytes are written, or after a timeout. */
  end (): void {
    this.#ended = true
    if (this.#held.length === 0) this.#finish()
  }

  #finish (): void {
    if (this.chunked) endRawChunks(this.#raw)
    if (this.#out.writableLength > 0) this.#arm()
    else this.#disarm()
    this.#raw.end()
  }

  destroy (): void { this.#raw.destroy() }

  /** Starts the inactivity timeout of the connection, as long as writes wait for the client. Each write restarts it. */
  #arm (): void {
    if (this.#armed) return
    const timeoutSource = this.#stream ?? this.#raw
    // no connection yet, or an injected request
    if (this.#stream === undefined && !(this.#raw.socket instanceof Socket)) return
    this.#armed = true
    if (!this.#listening) {
      this.#listening = true
      timeoutSource.on('timeout', () => {
        if (this.#armed && (this.blocked || this.#ended)) this.destroy()
        else this.#disarm()
      })
    }
    timeoutSource.setTimeout?.(this.#stalledMs)
  }

  #disarm (): void {
    if (!this.#armed) return
    this.#armed = false
    const timeoutSource = this.#stream ?? this.#raw
    timeoutSource.setTimeout?.(0)
  }
}
