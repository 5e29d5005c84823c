/**
 * The way of a watch's bytes to its client, as short as the protocol allows: over HTTP/2 the core stream, over
 * HTTP/1.1 the socket, with the framing of chunks made once for all watchers rather than by each answer.
 * Where neither is at hand (an answer that waits behind another one on its connection, an injected request) the
 * answer itself is written to, as any other.
 */
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { ByteRate } from '../serving/wire/byte-rate.js'
import { giveChunksBack, takeChunks } from '../serving/wire/raw-bodies.js'

/** A connection that has taken no byte for this long, with bytes waiting, is ended; that is found within twice the time. */
const STALLED_MS = 60_000
const NOTHING = new Uint8Array(0)

export interface SinkListener {
  /** The client has taken what it was behind with. */
  drained: () => void
  /** The answer is over: the client has gone, or was too long behind. Once. */
  closed: () => void
}

export class Sink {
  readonly #raw: ServerResponse
  readonly #stream: ServerHttp2Stream | undefined
  readonly #out: Writable
  readonly #listener: SinkListener
  readonly #stalledMs: number
  readonly #rate: ByteRate | undefined
  /** Chunks have to be chunks already: see `chunk`. */
  readonly chunked: boolean
  /** The client is behind: `drained` will tell when it is not. */
  blocked = false
  #armed = false
  #listens = false
  #ended = false
  /** Writes to the answer itself that have not called back. */
  #unsent = 0
  /** What the rate holds back: parts of what was written. */
  #rest: Uint8Array = NOTHING
  #pause: NodeJS.Timeout | undefined

  /**
   * @param raw an answer whose head is written
   * @param perSecond bytes that may go; 0 is no bound
   */
  constructor (raw: ServerResponse, listener: SinkListener, stalledMs = STALLED_MS, perSecond = 0) {
    this.#raw = raw
    this.#listener = listener
    this.#stalledMs = stalledMs
    if (perSecond > 0) this.#rate = new ByteRate(perSecond)
    raw.flushHeaders()
    const stream = this.#stream = (raw as unknown as Partial<Http2ServerResponse>).stream
    const socket = stream === undefined ? takeChunks(raw) : undefined
    this.chunked = socket !== undefined
    this.#out = stream ?? socket ?? raw
    raw.on('error', () => { listener.closed() })
    raw.once('close', () => {
      clearTimeout(this.#pause)
      listener.closed()
    })
  }

  /** False when the client is behind now. */
  write (chunk: Uint8Array): boolean {
    // One whose client has ended its side is being closed: there is nobody to read it.
    if (!this.#out.writable) return true
    if (this.#rate === undefined) return this.#send(chunk)
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.blocked) this.#pace(this.#rate)
    return !this.blocked
  }

  /** As much as the rate allows; where that is not all, the client counts as behind until more may go. */
  #pace (rate: ByteRate): void {
    while (this.#rest.length > 0 && this.#out.writable) {
      const { piece, wait } = rate.take(this.#rest.length)
      if (wait > 0) {
        this.blocked = true
        this.#pause = setTimeout(() => { this.#drained() }, wait).unref()
        return
      }
      const bytes = this.#rest.subarray(0, piece)
      this.#rest = this.#rest.subarray(piece)
      if (!this.#send(bytes)) return
    }
    this.#rest = NOTHING
  }

  #send (chunk: Uint8Array): boolean {
    if (this.#out === this.#raw as Writable) return this.#writeToAnswer(chunk)
    if (this.#out.write(chunk)) return true
    if (this.blocked) return false
    this.blocked = true
    this.#arm()
    this.#out.once('drain', () => { this.#drained() })
    return false
  }

  /** Of an answer 'drain' says nothing: Node emits it also when one behind it on its connection buffers some bytes. */
  #writeToAnswer (chunk: Uint8Array): boolean {
    this.#unsent++
    if (this.#raw.write(chunk, this.#sent)) return true
    this.blocked = true
    this.#arm()
    return false
  }

  readonly #sent = (): void => {
    if (--this.#unsent === 0 && this.blocked) this.#drained()
  }

  #drained (): void {
    this.blocked = false
    if (this.#rest.length > 0 && this.#rate !== undefined) {
      this.#pace(this.#rate)
      if (this.#ended && this.#rest.length === 0) this.#finish()
    }
    if (!this.blocked && !this.#ended) this.#listener.drained() // else the connection is another answer's
  }

  /** Ends the answer when the client has taken what was written; one that does not is ended all the same. */
  end (): void {
    this.#ended = true
    if (this.#rest.length === 0) this.#finish()
  }

  #finish (): void {
    if (this.chunked) giveChunksBack(this.#raw)
    if (this.#out.writableLength > 0) this.#arm()
    else this.#disarm()
    this.#raw.end()
  }

  destroy (): void { this.#raw.destroy() }

  /** From now on the connection tells when nothing has gone over it for a while; each write puts that off, so once is enough. */
  #arm (): void {
    if (this.#armed) return
    const teller = this.#stream ?? this.#raw
    if (this.#stream === undefined && !(this.#raw.socket instanceof Socket)) return // it has no connection yet, or none at all
    this.#armed = true
    if (!this.#listens) {
      this.#listens = true
      teller.on('timeout', () => {
        if (this.#armed && (this.blocked || this.#ended)) this.destroy()
        else this.#disarm()
      })
    }
    teller.setTimeout(this.#stalledMs)
  }

  #disarm (): void {
    if (!this.#armed) return
    this.#armed = false
    const teller = this.#stream ?? this.#raw
    teller.setTimeout(0)
  }
}

/** What stands before and behind so many bytes in a chunk of HTTP/1.1. */
export const chunkEnds = (length: number): readonly [head: string, tail: string] => [`${length.toString(16)}\r\n`, '\r\n']

/** One chunk, in memory of its own: it is kept for others who watch. */
export function chunk (bytes: Uint8Array): Buffer {
  const [head, tail] = chunkEnds(bytes.length)
  const framed = Buffer.allocUnsafeSlow(head.length + bytes.length + tail.length)
  framed.write(head, 0, 'latin1')
  framed.set(bytes, head.length)
  framed.write(tail, head.length + bytes.length, 'latin1')
  return framed
}

/** The bytes in a chunk, in the same memory. */
export function chunkContent (framed: Buffer): Buffer {
  return framed.subarray(framed.indexOf('\n') + 1, -2)
}
