/**
 * Large answers in pieces: written as the client reads, so that a slow client holds its own piece and not
 * the whole answer, and so that no turn of the loop is spent on one answer alone.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createGzip, constants } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

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

  /** Copies `bytes` without the last `drop` of them; false when the receiver is behind. */
  add (bytes: Uint8Array, drop = 0): boolean {
    const { length } = bytes
    if (length > PIECE_BYTES / 2) {
      const flushed = this.flush()
      return this.#write(Buffer.from(bytes.subarray(0, length - drop))) && flushed
    }
    let open = true
    if (this.#used + length > PIECE_BYTES) open = this.flush()
    // What is to be dropped is copied too and then written over: cheaper than a view without it.
    this.#piece.set(bytes, this.#used)
    this.#used += length - drop
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
    raw.once('close', leave)
    raw.on('error', leave)
  }

  async drained (): Promise<void> {
    if (!this.gone) await new Promise<void>(resolve => { this.#proceed = resolve })
  }
}

const TURN_MS = 10
/** The clock is looked at once in so many parts, and after a large one: making one of the others takes far less than a millisecond. */
const PARTS_PER_LOOK = 16
const LARGE_PART = 8 * 1024

/**
 * Sends what `parts` yields as one answer. A part is bytes, with the count of trailing bytes to leave out.
 * Ends the connection, not the process, when the client goes or a part can't be made.
 */
export async function sendParts (request: FastifyRequest, reply: FastifyReply, type: string, parts: Iterable<readonly [Uint8Array, number]>): Promise<void> {
  const gzip = acceptsGzip(request)
  const raw = begin(reply, { 'content-type': type, ...(gzip ? { 'content-encoding': 'gzip', vary: varying(reply) } : {}) })
  const packer = gzip ? createGzip({ level: constants.Z_BEST_SPEED, chunkSize: PIECE_BYTES }) : undefined
  packer?.pipe(raw)
  const out: NodeJS.WritableStream = packer ?? raw
  const receiver = new Receiver(raw, out)
  const pieces = new Pieces(piece => out.write(piece))
  try {
    let since = performance.now()
    let parted = 0
    for (const [bytes, drop] of parts) {
      if (!pieces.add(bytes, drop)) {
        await receiver.drained()
        if (packer === undefined) pieces.sent()
        since = performance.now()
      } else if ((++parted % PARTS_PER_LOOK === 0 || bytes.length > LARGE_PART) && performance.now() - since > TURN_MS) {
        await new Promise(resolve => { setImmediate(resolve) })
        since = performance.now()
      }
      if (receiver.gone) return
    }
    pieces.flush()
    out.end()
  } catch (error) {
    if (!receiver.gone) request.log.error({ err: error }, 'an answer could not be finished')
    raw.destroy()
    packer?.destroy()
  }
}
