/** Finds credentials in raw headers and removes them from requests. */
import type { IncomingMessage } from 'node:http'
import { TOKEN_PROTOCOL } from '../../schemas/public-names.js'
import { unauthorized } from '../../schemas/status.js'
import { removeHeaders } from '../shared/sent-headers.js'
import { bearerToken } from './token-file.js'

const AUTHORIZATION = 'authorization'

/** Node's default limit of raw header entries in HTTP/1; it drops further ones silently. */
const MAX_HEADER_ENTRIES = 2000

const isAuthorization = (name: string): boolean => name.length === AUTHORIZATION.length &&
  name.toLowerCase() === AUTHORIZATION

/** Browsers cannot set headers of a WebSocket and send the token as a subprotocol. */
const IN_PROTOCOL = /(?:^|[, ])base64url\.bearer\.authorization\./i
const PROTOCOL = 'sec-websocket-protocol'
const isProtocol = (name: string): boolean => name.length === PROTOCOL.length && name.toLowerCase() === PROTOCOL

/**
 * True if the request has a bearer token, including one in a repeated Authorization header, which Node's parsed headers
 * omit, or if Node may have dropped it. A request with an unrecognized token must not become anonymous.
 */
export function hasToken ({ rawHeaders }: IncomingMessage): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string // names and values alternate
    if (isAuthorization(name) && bearerToken(rawHeaders[at + 1]) !== undefined) return true
    if (isProtocol(name) && IN_PROTOCOL.test(rawHeaders[at + 1] as string)) return true
  }
  return rawHeaders.length >= MAX_HEADER_ENTRIES
}

/** Undefined without a token in the subprotocols. */
function protocolsOf ({ headers }: IncomingMessage): string[] | undefined {
  const sent = headers[PROTOCOL]
  return sent === undefined || !IN_PROTOCOL.test(sent) ? undefined : sent.split(',').map(protocol => protocol.trim())
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The token among a WebSocket's subprotocols. At least one other subprotocol is required. Undefined without one, or if
 * the request has an Authorization header.
 * @throws StatusError 401 for a malformed token
 */
export function tokenInProtocol (request: IncomingMessage): string | undefined {
  const protocols = protocolsOf(request)
  if (protocols === undefined || request.headers.authorization !== undefined ||
    request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined
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

/** Strips the credentials. */
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
