/**
 * A connection that becomes one of another protocol, SPDY or WebSocket: the request goes on as it came, and once the backend
 * has agreed bytes go both ways. What the backend refuses, the client is told as it was said.
 */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isClientError } from '../../clients/errors.js'
import { send, type Incoming, type OutgoingRequest } from '../../clients/outgoing.js'
import { badRequest, unexplained } from '../../schemas/status.js'
import { connectionOf } from '../../serving/wire/upgrades.js'
import { answerHeaders, asksForUpgrade, requestHeaders } from './headers.js'
import { besideOurs, stream } from './responses.js'
import { joinConnections } from './tunnel.js'

/** Milliseconds for a refusal to come from the backend and to be taken by the client. */
const LAST_WORDS = 10_000

/** Nobody reads a connection before there is somebody to hand its bytes to, and so nobody would hear of its end. @returns ends the watch */
function endWhenGone (connection: Socket): () => void {
  const look = (): void => { if (connection.readableLength === 0) connection.read(0) }
  const gone = (): void => { connection.destroy() }
  connection.on('readable', look).once('end', gone)
  return () => { connection.off('readable', look).off('end', gone) }
}

/** The connection of a request that asks for another protocol, where it can have one; over HTTP/2 none can. */
export const upgradable = (request: FastifyRequest): Socket | undefined => asksForUpgrade(request.raw) ? connectionOf(request.raw) : undefined

/** @throws StatusError 400 for a request that asks for no upgrade */
export function needsUpgrade (request: FastifyRequest): Socket {
  const connection = upgradable(request)
  if (connection === undefined) throw badRequest('Upgrade request required')
  return connection
}

/** @throws StatusError 500 for a backend that cannot be reached, or that answers what is neither a switch nor a refusal */
export async function upgrade (request: FastifyRequest, reply: FastifyReply, connection: Socket, destination: Omit<OutgoingRequest, 'method' | 'headers' | 'upgrade' | 'body'>, ending: AbortSignal): Promise<FastifyReply> {
  const { orch, raw } = request
  const forget = endWhenGone(connection)
  const { answer, upgraded }: Incoming = await send({
    ...destination,
    method: request.method,
    headers: requestHeaders(raw, { client: raw.socket.remoteAddress }),
    upgrade: true
  }, outgoing => { orch.onClosed(() => { outgoing.destroy() }) }).catch((error: unknown) => {
    throw isClientError(error) ? unexplained(`error dialing backend: ${error.message}`, error) : error
  }).finally(forget)
  const { statusCode = 0, statusMessage = '', rawHeaders } = answer
  if (upgraded === undefined) {
    if (statusCode < 400) {
      answer.destroy()
      throw unexplained(`invalid upgrade response: status code ${statusCode}`)
    }
    const late = setTimeout(() => { reply.raw.destroy() }, LAST_WORDS)
    orch.onClosed(() => { clearTimeout(late) })
    return stream(reply, statusCode, besideOurs(reply, answerHeaders(answer)), answer)
  }
  reply.hijack()
  if (connection.destroyed) {
    upgraded.socket.destroy()
    return reply
  }
  reply.raw.sendDate = false
  try {
    reply.raw.writeHead(statusCode, statusMessage, rawHeaders)
  } catch { // a word that no answer has
    upgraded.socket.destroy()
    connection.destroy()
    return reply
  }
  reply.raw.flushHeaders()
  joinConnections(connection, upgraded.socket, upgraded.head, ending, request.server.orch.settings.connectionBytesPerSecond)
  return reply
}
