/** Hands bytes to Fastify, whose hooks see every answer. */
import type { FastifyReply } from 'fastify'
import { afterWork } from '../event-loop/batching.js'
import { Body, piecewise, type Pieces } from './body.js'
import { acceptsGzip, gzipHeads, LARGE_BYTES } from './heads.js'
import type { ServedRequest } from './request-context.js'
import { viewOf } from './view.js'

export function fail ({ log, orch }: ServedRequest, reply: FastifyReply, error: unknown): void {
  if (!reply.sent) void reply.send(error)
  else if (!orch.signal.aborted) {
    log.error({ err: error, auditId: orch.auditId }, 'a request failed after it was answered')
  }
}

/** Sends complete bytes, compressed if they are large and the client accepts that. */
export function sendWhole (request: ServedRequest, reply: FastifyReply, type: string, bytes: Buffer): undefined {
  if (bytes.length >= LARGE_BYTES && acceptsGzip(request)) {
    sendPieces(request, reply, type, { pieces: [bytes] }).catch((error: unknown) => { fail(request, reply, error) })
    return undefined
  }
  reply.header('content-type', viewOf(request.orch).mediaType(type))
  sendTogether(request, reply, bytes)
}

/**
 * Sends the response together with those of other requests (`event-loop/batching.ts`). Its seat is free at once: it
 * waits for nothing more than that.
 */
function sendTogether (request: ServedRequest, reply: FastifyReply, bytes: Buffer): void {
  request.orch.handedOver(bytes.length)
  afterWork(() => {
    if (reply.sent) return // such as with the deadline's 504
    try {
      void reply.send(bytes)
    } catch (error) { // such as for an invalid header; here Fastify does not catch it, as it does in handlers
      request.log.error({ err: error, auditId: request.orch.auditId }, 'an answer could not be sent')
      reply.raw.destroy()
    }
  })
}

/** Sends bytes in pieces, compressed if the client accepts that. Resolves when they are written. */
export async function sendPieces (
  request: ServedRequest, reply: FastifyReply, type: string, source: Pick<Pieces, 'pieces' | 'length'>
): Promise<void> {
  const compressed = acceptsGzip(request)
  reply.header('content-type', viewOf(request.orch).mediaType(type))
  if (compressed) gzipHeads(reply)
  await new Promise<void>(resolve => {
    void reply.send(new Body(reply, piecewise(reply, { ...source, compressed, ended: resolve })))
  })
}
