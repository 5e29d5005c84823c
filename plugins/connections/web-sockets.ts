/**
 * WebSockets that this server ends itself, as node agents speak SPDY only: which they are, their handshakes, and how
 * the agent is asked in their place.
 */
import type { IncomingMessage } from 'node:http'
import type { ServedRequest } from '../../answers/request-context.js'
import { CHANNELS_PROTOCOL } from '../../schemas/public-names.js'
import { badRequest } from '../../schemas/status.js'
import { INVALID_HANDSHAKE, offeredProtocols, openingHeaders } from '../../serving/wire/web-socket.js'
import { requestHeaders } from '../shared/forwarding/headers.js'

const TUNNEL = /^SPDY\/3\.1\+(.+)$/
const OLDER = ['v4.', 'v3.', 'v2.', '']

export interface WebSocketRequest {
  /** Of the head that switches protocols. */
  readonly headers: readonly string[]
  /** Subprotocols for the agent, the preferred one first. */
  readonly protocols: readonly string[]
}

const offered = (raw: IncomingMessage): string[] => offeredProtocols(raw) ?? []

/** @throws StatusError 400 for an invalid handshake */
function handshake (raw: IncomingMessage, protocol: string): readonly string[] {
  const headers = openingHeaders(raw, protocol)
  if (headers === undefined) throw badRequest(INVALID_HANDSHAKE)
  return headers
}

/** A WebSocket whose channels are translated to streams; undefined for others. @throws StatusError 400 */
export function translated ({ raw }: ServedRequest): WebSocketRequest | undefined {
  for (const protocol of offered(raw)) {
    const domain = CHANNELS_PROTOCOL.exec(protocol)?.[1]
    if (domain === undefined) continue
    return { headers: handshake(raw, protocol), protocols: OLDER.map(version => `${version}channel.${domain}`) }
  }
  return undefined
}

/** A WebSocket whose messages are the bytes of a SPDY connection; undefined for others. @throws StatusError 400 */
export function tunnelled ({ raw }: ServedRequest): WebSocketRequest | undefined {
  const [first, ...others] = offered(raw).map(protocol => TUNNEL.exec(protocol)?.[1])
    .filter(protocol => protocol !== undefined)
  return first === undefined
    ? undefined
    : { headers: handshake(raw, `SPDY/3.1+${first}`), protocols: [first, ...others] }
}

/** Headers of the request to the agent, with SPDY in place of the WebSocket. */
export function spdyHeaders ({ raw }: ServedRequest, protocols: readonly string[]): string[] {
  const headers = requestHeaders(raw, { client: raw.socket.remoteAddress })
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2)
    if (!/^(?:sec-websocket-.*|connection|upgrade|x-stream-protocol-version)$/i.test(name)) kept.push(name, value)
  }
  return [
    ...kept, 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1',
    ...protocols.flatMap(protocol => ['X-Stream-Protocol-Version', protocol])
  ]
}
