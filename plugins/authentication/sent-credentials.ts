/** Headers with credentials as they stand on the wire: which there are, and how they leave a request. */
import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../../schemas/status.js'
import { removeHeaders } from '../sent-headers.js'
import { bearerToken } from './token-file.js'

const AUTHORIZATION = 'authorization'

/** Names and values of headers that Node's server of HTTP/1 keeps where its host sets no other bound; those beyond are left out in silence. */
const MOST_KEPT = 2000

const isAuthorization = (name: string): boolean => name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION

/** How pages in a browser, which can't set headers of a WebSocket, send a token among its subprotocols. */
const IN_PROTOCOL = /(?:^|[, ])base64url\.bearer\.authorization\./i
const PROTOCOL = 'sec-websocket-protocol'
const isProtocol = (name: string): boolean => name.length === PROTOCOL.length && name.toLowerCase() === PROTOCOL

/**
 * True when there is a bearer token, also beside another Authorization header, of which the parsed ones have the first
 * alone, or may have been one. Nobody who brings a token is anonymous for its not being understood.
 */
export function bringsToken ({ rawHeaders }: IncomingMessage): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string // they are pairs
    if (isAuthorization(name) && bearerToken(rawHeaders[at + 1]) !== undefined) return true
    if (isProtocol(name) && IN_PROTOCOL.test(rawHeaders[at + 1] as string)) return true
  }
  return rawHeaders.length >= MOST_KEPT
}

/** The one of our own name, and what stock clients call it. */
const TOKEN_PROTOCOL = /^base64url\.bearer\.authorization\.(?:orch|k8s)\.io\.(.*)$/

/** Undefined where there is no such header. */
function protocolsOf ({ headers }: IncomingMessage): string[] | undefined {
  const sent = headers[PROTOCOL]
  return sent === undefined || !IN_PROTOCOL.test(sent) ? undefined : sent.split(',').map(protocol => protocol.trim())
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The token that a WebSocket brings among its subprotocols, which have to have another one to be agreed on.
 * Undefined where there is none, or credentials that go before it.
 * @throws StatusError 401 for what is no token
 */
export function tokenInProtocol (request: IncomingMessage): string | undefined {
  const protocols = protocolsOf(request)
  if (protocols === undefined || request.headers.authorization !== undefined || request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined
  const encoded = protocols.flatMap(protocol => TOKEN_PROTOCOL.exec(protocol)?.[1] ?? [])
  if (encoded.length === 0) return undefined
  const [token = ''] = encoded
  if (encoded.length > 1 || protocols.length < 2 || !/^[\w-]+$/.test(token)) throw unauthorized()
  try {
    return UTF8.decode(Buffer.from(token, 'base64url'))
  } catch {
    throw unauthorized()
  }
}

/** What has decided who asks is nobody's business any more. */
export function removeAuthorization (request: IncomingMessage): void {
  if (request.headers.authorization !== undefined) removeHeaders(request, isAuthorization)
  const protocols = protocolsOf(request)
  if (protocols === undefined) return
  const left = protocols.filter(protocol => !IN_PROTOCOL.test(protocol)).join(', ')
  removeHeaders(request, isProtocol)
  if (left === '') return
  request.headers[PROTOCOL] = left
  request.rawHeaders.push('Sec-WebSocket-Protocol', left)
}
