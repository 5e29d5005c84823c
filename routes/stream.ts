/**
 * Large answers in chunks: written as the client reads, so that a slow client holds its own chunk and not
 * the whole answer, and so that no turn of the loop is spent on one answer alone.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createGzip, constants, type Gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListBytes } from './list-bytes.js'
import { nextTurn, turnIsOver } from '../storage/turns.js'
import { ChunkWriter, CHUNK_BYTES, Chunks } from './chunks.js'
import { unframedSocket } from '../serving/wire/raw-bodies.js'

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
  reportUnsent(packer, request, reply.raw)
  packer.end(bytes)
  return reply.headers({ 'content-encoding': 'gzip', vary: varying(reply) }).send(packer)
}

/** What is compressed waits for its client, or is through. */
function reportUnsent (packer: Gzip, request: FastifyRequest, raw: ServerResponse): void {
  packer.on('pause', () => { request.orch.handedOver(raw.writableLength + packer.readableLength + packer.writableLength) })
  packer.once('end', () => { request.orch.handedOver(raw.writableLength) })
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

/**
 * Where the body of an answer of known length is written to: as its head says how long it is, it needs nothing around
 * its bytes, and can pass the answer by on the way to its connection. One that waits behind another answer can't.
 */
function destinationOf (raw: ServerResponse): NodeJS.WritableStream {
  raw.flushHeaders()
  return unframedSocket(raw) ?? raw
}

/** Takes the answer over and sends its head, compressed where the client takes that; the length is for those that are not. */
function open (request: FastifyRequest, reply: FastifyReply, type: string, length?: number) {
  const gzip = acceptsGzip(request)
  const encoding = gzip ? { 'content-encoding': 'gzip', vary: varying(reply) } : length === undefined ? {} : { 'content-length': length }
  const raw = begin(reply, { 'content-type': type, ...encoding })
  const packer = gzip ? createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES }) : undefined
  if (packer !== undefined) {
    reportUnsent(packer, request, raw)
    packer.pipe(raw)
  }
  const outlet = new ChunkWriter(raw, packer ?? (length === undefined ? raw : destinationOf(raw)))
  const end = (): void => {
    if (packer !== undefined) {
      packer.end()
      return
    }
    raw.end()
    request.orch.handedOver(Math.max(raw.writableLength, outlet.unsent))
  }
  /** Whoever waits for its client keeps nobody out. */
  const drained = (): Promise<void> => {
    request.orch.handedOver(outlet.unsent + (packer === undefined ? 0 : raw.writableLength))
    return outlet.drained()
  }
  const destroy = (): void => {
    raw.destroy()
    packer?.destroy()
  }
  return { outlet, drained, end, destroy }
}

/**
 * Sends what `parts` yields as one answer. Each part is copied before the next is asked for. Ends the connection, not
 * the process, when the client goes or a part can't be made.
 */
export async function sendParts (request: FastifyRequest, reply: FastifyReply, type: string, parts: Iterable<Uint8Array | Promise<Uint8Array>>): Promise<void> {
  const { outlet, drained, end, destroy } = open(request, reply, type)
  const chunks = new Chunks(outlet)
  try {
    for (const made of parts) {
      const part = made instanceof Promise ? await made : made
      if (!chunks.add(part)) await drained()
      if (turnIsOver()) await nextTurn() // making a part takes far longer than looking at the clock
      if (outlet.closed) return destroy()
    }
    chunks.flush()
    end()
  } catch (error) {
    if (!outlet.closed) request.log.error({ err: error }, 'an answer could not be finished')
    destroy()
  }
}

/** Sends the JSON of a list. Its length is known, so over HTTP/1 it needs no chunks, each of which Node would copy once more. */
export async function sendJoined (request: FastifyRequest, reply: FastifyReply, type: string, joined: ListBytes): Promise<void> {
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
  const { outlet, drained, end, destroy } = open(request, reply, type, joined.length)
  for (let left = joined.length; left > 0;) {
    const ready = joined.next()
    let taken
    if (ready !== undefined) {
      left -= ready.length
      taken = outlet.write(ready)
    } else {
      const chunk = outlet.take()
      const used = joined.fill(chunk)
      left -= used
      taken = outlet.give(chunk, used)
    }
    if (!taken) await drained()
    if (turnIsOver()) await nextTurn()
    if (outlet.closed) return destroy()
  }
  end()
}
