/**
 * Upgrades a connection to SPDY or WebSocket: forwards the request, and relays bytes once the back end agrees. Refusals
 * are forwarded unchanged.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RelayedAnswer } from '../../../answers/answer.js'
import type { ServedRequest } from '../../../answers/request-context.js'
import { isClientError, type ClientError } from '../../../clients/errors.js'
import { send, type Incoming, type OutgoingRequest } from '../../../clients/outgoing.js'
import { badRequest, unexplained } from '../../../schemas/status.js'
import { connectionOf } from '../../../serving/wire/upgrades.js'
import { answerHeaders, requestsUpgrade, requestHeaders } from './headers.js'
import { joinConnections, type Join } from './tunnel.js'

/** Milliseconds to forward a refusal to the client. */
const REFUSAL_TIMEOUT = 10_000

/**
 * Destroys a connection when its client disconnects. Until bytes are relayed nothing reads the socket, so its end would
 * go unnoticed.
 * @returns removes the listeners
 */
function destroyOnDisconnect (connection: Socket): () => void {
  const onReadable = (): void => { if (connection.readableLength === 0) connection.read(0) }
  const onEnd = (): void => { connection.destroy() }
  connection.on('readable', onReadable).once('end', onEnd)
  return () => { connection.off('readable', onReadable).off('end', onEnd) }
}

/** The request's socket if it asks for an upgrade and may have one; HTTP/2 requests may not. */
export const upgradable = (request: ServedRequest): Socket | undefined =>
  requestsUpgrade(request.raw) ? connectionOf(request.raw) : undefined

/** @throws StatusError 400 if the request does not ask for an upgrade */
export function needsUpgrade (request: ServedRequest): Socket {
  const connection = upgradable(request)
  if (connection === undefined) throw badRequest('Upgrade request required')
  return connection
}

export interface UpgradeDestination extends Omit<OutgoingRequest, 'method' | 'headers' | 'upgrade' | 'body'> {
  /** Default those of the client's request. */
  readonly headers?: readonly string[]
  /** The error for an unreachable back end. Default 500. */
  readonly unreachable?: (error: ClientError) => Error
  /** The error for a response that is neither a switch nor an error. Default 500. */
  readonly invalid?: (answer: IncomingMessage) => Error
  /**
   * The client's own protocol: the head that switches to it, and how the connections are joined. Default the back
   * end's.
   */
  readonly switching?: { readonly headers: readonly string[], readonly join: Join }
}

const invalidResponse = ({ statusCode = 0 }: IncomingMessage): Error =>
  unexplained(`invalid upgrade response: status code ${statusCode}`)

/** @throws StatusError 500 if the back end is unreachable or responds with neither a switch nor an error */
export async function upgrade (
  request: ServedRequest, connection: Socket, destination: UpgradeDestination, ending: AbortSignal
): Promise<RelayedAnswer> {
  const {
    unreachable = (error: ClientError) =>
      unexplained(`error dialing backend: ${error.message}`, error), invalid = invalidResponse
  } = destination
  const { orch, raw, server } = request
  const stopWatching = destroyOnDisconnect(connection)
  const { answer, upgraded }: Incoming = await send({
    ...destination,
    method: request.method,
    headers: destination.headers ?? requestHeaders(raw, { client: raw.socket.remoteAddress }),
    upgrade: true
  }, outgoing => { orch.onClosed(() => { outgoing.destroy() }) }).catch((error: unknown) => {
    throw isClientError(error) ? unreachable(error) : error
  }).finally(stopWatching)
  const { statusCode = 0 } = answer
  if (upgraded === undefined) {
    if (statusCode < 400) {
      answer.destroy()
      throw invalid(answer)
    }
    const late = setTimeout(() => { answer.destroy() }, REFUSAL_TIMEOUT) // which destroys what is sent of it
    orch.onClosed(() => { clearTimeout(late) })
    return { kind: 'passed', code: statusCode, headers: answerHeaders(answer), body: answer, isProxied: true }
  }
  const { headers = answer.rawHeaders, join = joinConnections } = destination.switching ?? {}
  const message = destination.switching === undefined ? answer.statusMessage : undefined
  return {
    kind: 'upgrade',
    connection,
    head: { headers, message },
    begin: () => {
      join(connection, upgraded, {
        ending,
        perSecond: server.orchSettings.connectionBytesPerSecond,
        failed: ({ message: reason }) => {
          request.log.info({ reason, auditId: orch.auditId }, 'a forwarded connection ended, as its back end broke off')
        }
      })
    },
    abandon: () => { upgraded.socket.destroy() }
  }
}
