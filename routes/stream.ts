/**
 * Sends large responses in chunks, at the pace of the client, so that a slow client holds one chunk instead of the whole response, and no event loop turn is
 * spent on one response alone.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createGzip, constants, type Gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListBytes } from './list-bytes.js'
import { publicType } from '../schemas/compat/objects.js'
import { afterWork } from '../event-loop/batching.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { ChunkWriter, CHUNK_BYTES, Chunks, makeChunk } from './chunks.js'
import { unframedSocket } from '../serving/wire/raw-bodies.js'

/** Smaller responses are sent whole and uncompressed. */
export const LARGE_BYTES = 128 * 1024

/** The media type under the names that the client uses. */
export const typeFor = (request: FastifyRequest, type: string): string => request.orch.publicNames ? publicType(type) : type

export function acceptsGzip (request: FastifyRequest): boolean {
  const header = request.headers['accept-encoding']
  if (header === undefined || !request.server.orch.settings.featureGates.enabled('APIResponseCompression')) return false
  return String(header).split(',').some(part => {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    return (name === 'gzip' || name === '*') && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter))
  })
}

/**
 * Sends the response together with those of other requests (`event-loop/batching.ts`). Its seat is free at once: it
 * waits for nothing more than that.
 */
function sendTogether (request: FastifyRequest, reply: FastifyReply, bytes: Buffer): FastifyReply {
  request.orch.handedOver(bytes.length)
  afterWork(() => {
    if (reply.sent) return // such as with the deadline's 504
    try {
      void reply.send(bytes)
    } catch (error) { // such as for an invalid header; here Fastify does not catch it, as it does in handlers
      request.log.error({ err: error }, 'an answer could not be sent')
      reply.raw.destroy()
    }
  })
  return reply
}

/** Adds Accept-Encoding to the Vary header. */
function varyHeader (reply: FastifyReply): string {
  const before = reply.getHeader('vary')
  return before === undefined ? 'accept-encoding' : `${String(before)}, accept-encoding`
}

/** Sends complete bytes, compressed if they are large and the client accepts that. */
export function sendBytes (request: FastifyRequest, reply: FastifyReply, type: string, bytes: Buffer): FastifyReply {
  reply.header('content-type', typeFor(request, type))
  if (bytes.length < LARGE_BYTES || !acceptsGzip(request)) return sendTogether(request, reply, bytes)
  const gzipStream = createGzip({ level: constants.Z_BEST_SPEED })
  reportUnsent(gzipStream, request, reply.raw)
  gzipStream.end(bytes)
  return reply.headers({ 'content-encoding': 'gzip', vary: varyHeader(reply) }).send(gzipStream)
}

/** Reports unsent bytes when compression pauses or ends. */
function reportUnsent (gzipStream: Gzip, request: FastifyRequest, raw: ServerResponse): void {
  gzipStream.on('pause', () => { request.orch.handedOver(raw.writableLength + gzipStream.readableLength + gzipStream.writableLength) })
  gzipStream.once('end', () => { request.orch.handedOver(raw.writableLength) })
}

/** The headers set so far, for a response that bypasses Fastify. */
function headersOf (reply: FastifyReply, extra: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return { ...reply.getHeaders(), ...extra } as OutgoingHttpHeaders
}

/** Takes the response over from Fastify and sends its head. */
export function begin (reply: FastifyReply, headers: OutgoingHttpHeaders): ServerResponse {
  if (headers['content-length'] !== undefined) reply.header('content-length', headers['content-length']) // metrics read it
  const all = headersOf(reply, headers)
  reply.hijack()
  reply.raw.writeHead(200, all)
  return reply.raw
}

/**
 * The stream for a body of known length. It needs no framing, so it may bypass the response and write to the socket, unless the response waits behind another
 * one.
 */
function destinationOf (raw: ServerResponse): NodeJS.WritableStream {
  raw.flushHeaders()
  return unframedSocket(raw) ?? raw
}

/** Takes the response over and sends its head, compressed if the client accepts that; `length` applies to uncompressed ones. */
function openBody (request: FastifyRequest, reply: FastifyReply, type: string, length?: number) {
  const gzip = acceptsGzip(request)
  const encoding = gzip ? { 'content-encoding': 'gzip', vary: varyHeader(reply) } : length === undefined ? {} : { 'content-length': length }
  const raw = begin(reply, { 'content-type': typeFor(request, type), ...encoding })
  const gzipStream = gzip ? createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES }) : undefined
  if (gzipStream !== undefined) {
    reportUnsent(gzipStream, request, raw)
    gzipStream.pipe(raw)
  }
  const writer = new ChunkWriter(raw, gzipStream ?? (length === undefined ? raw : destinationOf(raw)))
  const end = (): void => {
    if (gzipStream !== undefined) {
      gzipStream.end()
      return
    }
    raw.end()
    request.orch.handedOver(Math.max(raw.writableLength, writer.unsent))
  }
  /** Releases the request's seat while it waits for its client. */
  const drained = (): Promise<void> => {
    request.orch.handedOver(writer.unsent + (gzipStream === undefined ? 0 : raw.writableLength))
    return writer.drained()
  }
  const destroy = (): void => {
    raw.destroy()
    gzipStream?.destroy()
  }
  return { writer, drained, end, destroy }
}

/**
 * Sends the yielded parts as one response. Each part is copied before the next one is created. If the client disconnects or a part fails, only the connection
 * ends.
 */
export async function sendParts (request: FastifyRequest, reply: FastifyReply, type: string, parts: Iterable<Uint8Array | Promise<Uint8Array>>): Promise<void> {
  const { writer, drained, end, destroy } = openBody(request, reply, type)
  const chunks = new Chunks(writer)
  try {
    for (const made of parts) {
      const part = made instanceof Promise ? await made : made
      if (!chunks.add(part)) await drained()
      if (turnIsOver()) await nextTurn() // a part takes far longer than reading the clock
      if (writer.closed) return destroy()
    }
    chunks.flush()
    end()
  } catch (error) {
    if (!writer.closed) request.log.error({ err: error }, 'an answer could not be finished')
    destroy()
  }
}

/** Sends the JSON of a list. Its length is known, so HTTP/1 needs no chunked encoding, which would make Node copy the bytes again. */
export async function sendJoined (request: FastifyRequest, reply: FastifyReply, type: string, joined: ListBytes): Promise<void> {
  if (joined.length < LARGE_BYTES) {
    const whole = Buffer.allocUnsafe(joined.length)
    for (let used = 0; used < whole.length;) {
      const ready = joined.next()
      if (ready !== undefined) used += ready.copy(whole, used)
      else used += joined.fill(whole.subarray(used))
    }
    sendTogether(request, reply.header('content-type', type), whole)
    return
  }
  const { writer, drained, end, destroy } = openBody(request, reply, type, joined.length)
  for (let remaining = joined.length; remaining > 0;) {
    const bytes = joined.next() ?? filled(joined)
    remaining -= bytes.length
    if (!writer.write(bytes)) await drained()
    if (turnIsOver()) await nextTurn()
    if (writer.closed) return destroy()
  }
  end()
}

function filled (joined: ListBytes): Buffer {
  const chunk = makeChunk()
  return chunk.subarray(0, joined.fill(chunk))
}
