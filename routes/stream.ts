/**
 * Large answers in pieces: written as the client reads, so that a slow client holds its own piece and not
 * the whole answer, and so that no turn of the loop is spent on one answer alone.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { createGzip, constants } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Joined } from './joined.js'
import { nextTurn, turnIsOver } from '../storage/turns.js'

/** Pieces are collected to this size: smaller ones cost a TLS record and a system call each. */
export const PIECE_BYTES = 128 * 1024
/** Answers below it are sent whole and not compressed. */
export const LARGE_BYTES = 128 * 1024

export function acceptsGzip (request: FastifyRequest): boolean {
  const header = request.headers['accept-encoding']
  if (header === undefined) return false
  return String(header).split(',').some(part => {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    return (name === 'gzip' || name === '*') && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** What the answer depends on already, and on the encodings the client takes. */
function varying (reply: FastifyReply): string {
  const before = reply.getHeader('vary')
  return before === undefined ? 'accept-encoding' : `${String(before)}, accept-encoding`
}

/** Bytes that are whole already, compressed where they are many and the client takes it. */
export function sendBytes (request: FastifyRequest, reply: FastifyReply, type: string, bytes: Buffer): FastifyReply {
  reply.header('content-type', type)
  if (bytes.length < LARGE_BYTES || !acceptsGzip(request)) return reply.send(bytes)
  const packer = createGzip({ level: constants.Z_BEST_SPEED })
  packer.end(bytes)
  return reply.headers({ 'content-encoding': 'gzip', vary: varying(reply) }).send(packer)
}

/** Headers set so far by all concerns, for an answer written past Fastify. */
function headersOf (reply: FastifyReply, extra: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return { ...reply.getHeaders(), ...extra } as OutgoingHttpHeaders
}

/** Takes the answer over from Fastify and sends its head. */
export function begin (reply: FastifyReply, headers: OutgoingHttpHeaders): ServerResponse {
  if (headers['content-length'] !== undefined) reply.header('content-length', headers['content-length']) // metrics ask for it
  const all = headersOf(reply, headers)
  reply.hijack()
  reply.raw.writeHead(200, all)
  return reply.raw
}

/** Collects small buffers into pieces; whoever drives it waits where `add` says so. */
export class Pieces {
  readonly #write: (piece: Buffer) => boolean
  #piece: Buffer = Buffer.allocUnsafe(PIECE_BYTES)
  /** Pieces written and not known to be sent. */
  #written: Buffer[] = []
  #free: Buffer[] = []
  #used = 0

  constructor (write: (piece: Buffer) => boolean) { this.#write = write }

  /** Copies `bytes`; false when the receiver is behind. */
  add (bytes: Uint8Array): boolean {
    const { length } = bytes
    if (length > PIECE_BYTES / 2) {
      const flushed = this.flush()
      return this.#write(Buffer.from(bytes)) && flushed
    }
    let open = true
    if (this.#used + length > PIECE_BYTES) open = this.flush()
    this.#piece.set(bytes, this.#used)
    this.#used += length
    return open
  }

  flush (): boolean {
    if (this.#used === 0) return true
    const piece = this.#piece.subarray(0, this.#used)
    this.#written.push(this.#piece)
    this.#piece = this.#free.pop() ?? Buffer.allocUnsafe(PIECE_BYTES)
    this.#used = 0
    return this.#write(piece)
  }

  /** All that was written has been sent: its memory is used again, as fresh memory costs more than the copying. */
  sent (): void {
    this.#free.push(...this.#written)
    this.#written = []
  }
}

/** Waits for the receiver to have taken what was written, or to have gone. One listener for all the waits of an answer. */
class Receiver {
  gone = false
  #proceed: (() => void) | undefined

  constructor (raw: ServerResponse, out: NodeJS.WritableStream) {
    const proceed = (): void => { this.#proceed?.() }
    const leave = (): void => {
      this.gone = true
      proceed()
    }
    out.on('drain', proceed)
    raw.once('close', () => {
      out.off('drain', proceed) // a connection is there for other answers too
      leave()
    })
    raw.on('error', leave)
  }

  async drained (): Promise<void> {
    if (!this.gone) await new Promise<void>(resolve => { this.#proceed = resolve })
  }
}

/**
 * Where the body of an answer of known length is written to: as its head says how long it is, it needs nothing around
 * its bytes, and can pass the answer by on the way to its connection. One that waits behind another answer can't.
 */
function wayOf (raw: ServerResponse): NodeJS.WritableStream {
  raw.flushHeaders()
  if (raw.chunkedEncoding !== false || !(raw.socket instanceof Socket)) return raw
  return raw.socket
}

/** Takes the answer over and sends its head, compressed where the client takes that; the length is for those that are not. */
function open (request: FastifyRequest, reply: FastifyReply, type: string, length?: number) {
  const gzip = acceptsGzip(request)
  const encoding = gzip ? { 'content-encoding': 'gzip', vary: varying(reply) } : length === undefined ? {} : { 'content-length': length }
  const raw = begin(reply, { 'content-type': type, ...encoding })
  const packer = gzip ? createGzip({ level: constants.Z_BEST_SPEED, chunkSize: PIECE_BYTES }) : undefined
  packer?.pipe(raw)
  const out = packer ?? (length === undefined ? raw : wayOf(raw))
  const destroy = (): void => {
    raw.destroy()
    packer?.destroy()
  }
  return { out, end: () => { (packer ?? raw).end() }, destroy, receiver: new Receiver(raw, out) }
}

/**
 * Sends what `parts` yields as one answer. Each part is copied before the next is asked for. Ends the connection, not
 * the process, when the client goes or a part can't be made.
 */
export async function sendParts (request: FastifyRequest, reply: FastifyReply, type: string, parts: Iterable<Uint8Array>): Promise<void> {
  const { out, destroy, receiver } = open(request, reply, type)
  const pieces = new Pieces(piece => out.write(piece))
  try {
    for (const part of parts) {
      if (!pieces.add(part)) {
        await receiver.drained()
        pieces.sent()
      }
      if (turnIsOver()) await nextTurn() // making a part takes far longer than looking at the clock
      if (receiver.gone) return destroy()
    }
    pieces.flush()
    out.end()
  } catch (error) {
    if (!receiver.gone) request.log.error({ err: error }, 'an answer could not be finished')
    destroy()
  }
}

/** Pieces that are in nobody's use: fresh memory costs more than the copying. */
const spare: Buffer[] = []
const MOST_SPARE = 8

/** Sends the JSON of a list. Its length is known, so over HTTP/1 it needs no chunks, each of which Node would copy once more. */
export async function sendJoined (request: FastifyRequest, reply: FastifyReply, type: string, joined: Joined): Promise<void> {
  if (joined.length < LARGE_BYTES) {
    const whole = Buffer.allocUnsafe(joined.length)
    for (let used = 0; used < whole.length;) {
      const ready = joined.next()
      if (ready !== undefined) used += ready.copy(whole, used)
      else used += joined.fill(whole.subarray(used))
    }
    void reply.header('content-type', type).send(whole)
    return
  }
  const { out, end, destroy, receiver } = open(request, reply, type, joined.length)
  const mine: Buffer[] = []
  const written: Buffer[] = []
  const filled = (): Buffer => {
    const piece = mine.pop() ?? spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
    written.push(piece)
    const used = joined.fill(piece)
    return used === piece.length ? piece : piece.subarray(0, used)
  }
  for (let left = joined.length; left > 0;) {
    const bytes = joined.next() ?? filled()
    left -= bytes.length
    if (!out.write(bytes)) {
      await receiver.drained()
      mine.push(...written.splice(0))
    }
    if (turnIsOver()) await nextTurn()
    if (receiver.gone) return destroy() // and the pieces with it: what was not taken may still be read
  }
  end()
  for (const piece of mine) if (spare.length < MOST_SPARE) spare.push(piece)
}
