/**
 * Bodies that are sent in pieces: at the pace of the client, so that a slow one holds a chunk instead of the whole
 * answer, and no turn of the event loop is spent on one answer alone.
 *
 * A body is a Readable, so that hooks of hosts may read or transform it. Fastify pipes it into the response after all
 * hooks; it then takes the response over, and writes with as little overhead as possible.
 */
import type { ServerResponse } from 'node:http'
import { Readable, Writable } from 'node:stream'
import { constants, createGzip, type Gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { unframedSocket, type MaybeConnected } from '../serving/wire/raw-bodies.js'
import { CHUNK_BYTES, ChunkWriter } from './chunks.js'
import { served, type RequestContext, type ServedRequest } from './request-context.js'

/** The response, or a stream in its place, which has no socket. */
export type BodyOutput = Writable & Pick<ServerResponse, 'flushHeaders'> & MaybeConnected

export interface Content {
  /** Its bytes, if they are known beforehand. */
  readonly length?: number | string | undefined
  /** Writes all of it, and ends or destroys `out`. Called at most once. */
  readonly writeTo: (out: BodyOutput) => void
  /** It will not be sent: the client has gone, or a hook sent something else. */
  readonly abandon?: () => void
}

export class Body extends Readable {
  readonly #reply: FastifyReply
  readonly #length: Content['length']
  /** Undefined once it is written or abandoned, so that nothing of it is held. */
  #content: Content | undefined
  #relay: Relay | undefined

  constructor (reply: FastifyReply, content: Content) {
    super({ emitClose: false, highWaterMark: CHUNK_BYTES })
    this.#reply = reply
    this.#length = content.length
    this.#content = content
    if (content.abandon !== undefined) served(reply.request).orch.onClosed(() => { this.#closed() })
  }

  override pipe<T extends NodeJS.WritableStream> (destination: T, options?: { end?: boolean }): T {
    const { raw } = this.#reply
    if (destination as unknown !== raw) return super.pipe(destination, options)
    const isAnswered = raw.headersSent // such as by a host
    const hasTrailers = options?.end === false // which need chunks
    if (!isAnswered) {
      this.#reply.hijack() // only now: hooks of deadlines and hosts must see that it is sent
      // only now: hooks may have put another body in its place
      if (this.#length !== undefined && !hasTrailers) raw.setHeader('content-length', this.#length)
    }
    const isOrdinary = hasTrailers || this.readableFlowing !== null // a hook listens to the data
    if (isOrdinary && !isAnswered) return super.pipe(destination, options)
    // Fastify follows it until it ends, and would destroy it and log its own error where the client leaves first.
    this.emit('end')
    if (isAnswered) this.destroy()
    else this.#start(raw)
    return destination
  }

  override _read (): void {
    if (this.#relay !== undefined) return this.#relay.proceed()
    this.#relay = new Relay(this)
    this.#start(this.#relay)
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    this.#abandon()
    this.#relay?.destroy()
    done(error)
  }

  #start (out: BodyOutput): void {
    const content = this.#content
    this.#content = undefined
    content?.writeTo(out)
  }

  /** A stream that a hook pipes this into does not tell when its client has left. */
  #closed (): void {
    this.#abandon()
    if (this.#relay !== undefined && !this.#reply.raw.writableEnded) this.destroy()
  }

  #abandon (): void {
    const content = this.#content
    this.#content = undefined
    content?.abandon?.()
  }
}

/** What a body is written to where not the response but a hook of a host reads it. */
class Relay extends Writable {
  readonly #body: Body
  #proceed: (() => void) | undefined

  constructor (body: Body) {
    super({ highWaterMark: CHUNK_BYTES })
    this.#body = body
  }

  flushHeaders (): void {}

  /** The body has been read. */
  proceed (): void {
    const proceed = this.#proceed
    this.#proceed = undefined
    proceed?.()
  }

  override _write (chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#body.push(Buffer.from(chunk))) done() // a copy: its chunk is used again, and a hook may keep it
    else this.#proceed = done
  }

  override _final (done: () => void): void {
    this.#body.push(null)
    done()
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#body.destroy(error ?? new Error('the answer could not be finished'))
    done()
  }
}

export interface Pieces {
  /** Each immutable. */
  readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** Their bytes, if known. */
  readonly length?: number
  readonly compressed: boolean
  /** Called once, whatever happens. */
  readonly ended: () => void
}

/** If the client disconnects or a piece fails, only the connection ends. */
export function piecewise ({ request }: FastifyReply, source: Pieces): Content {
  return {
    length: source.compressed ? undefined : source.length,
    writeTo: out => { write(served(request), source, out).finally(source.ended).catch(() => {}) },
    abandon: source.ended
  }
}

async function write (
  { orch, log }: ServedRequest, { pieces, length, compressed }: Pieces, out: BodyOutput
): Promise<void> {
  const gzip = compressed ? gzipInto(out, orch) : undefined
  const writer = new ChunkWriter(out, gzip ?? (length === undefined ? out : destinationOf(out)))
  const destroy = (): void => {
    out.destroy()
    gzip?.destroy()
  }
  const iterator = Symbol.iterator in pieces ? pieces[Symbol.iterator]() : pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = iterator.next()
      const { done, value } = next instanceof Promise ? await next : next // most need not wait
      if (done === true) break
      if (!writer.write(value)) {
        orch.handedOver(writer.unsent + out.writableLength) // its seat is free while it waits for its client
        await writer.drained()
      }
      if (turnIsOver()) await nextTurn()
      if (writer.closed) {
        destroy()
        await iterator.return?.()
        return
      }
    }
    if (gzip !== undefined) {
      gzip.end()
      return
    }
    out.end()
    orch.handedOver(Math.max(out.writableLength, writer.unsent))
  } catch (error) {
    if (!writer.closed) log.error({ err: error, auditId: orch.auditId }, 'an answer could not be finished')
    destroy()
  }
}

/**
 * The stream for a body of known length. It needs no framing, so it may bypass the response and write to the socket,
 * unless the response waits behind another one.
 */
function destinationOf (raw: BodyOutput): NodeJS.WritableStream {
  raw.flushHeaders()
  return unframedSocket(raw) ?? raw
}

/** Reports unsent bytes when compression pauses or ends. */
function gzipInto (out: Writable, orch: RequestContext): Gzip {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES })
  gzip.on('pause', () => { orch.handedOver(out.writableLength + gzip.readableLength + gzip.writableLength) })
  gzip.once('end', () => { orch.handedOver(out.writableLength) })
  gzip.pipe(out)
  return gzip
}
