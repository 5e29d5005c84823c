/** Forwards headers of requests and responses, without those that concern a single connection. */
import type { IncomingMessage } from 'node:http'

const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer',
  'transfer-encoding', 'upgrade', 'http2-settings'
])
/** CORS is decided by this server, not by the back end. */
const CORS_HEADERS = [
  'access-control-allow-credentials', 'access-control-allow-headers', 'access-control-allow-methods',
  'access-control-allow-origin'
]

/** Header names listed in a Connection header. */
const named = (connection: string | undefined): string[] =>
  (connection ?? '').split(',').map(name => name.trim().toLowerCase()).filter(name => name !== '')

/**
 * Over such a protocol the client could send further requests, which the back end would take for requests of this
 * server.
 */
const CARRIES_REQUESTS = /^(?:h2c?|http|tls)(?:\/|$)/i

/** True if the request asks for a protocol upgrade that can be passed on. Others are ignored, as HTTP allows. */
export function requestsUpgrade ({ headers: { connection = '', upgrade = '' } }: IncomingMessage): boolean {
  return connection.toLowerCase().includes('upgrade') && upgrade !== '' &&
    !upgrade.split(',').some(protocol => CARRIES_REQUESTS.test(protocol.trim()))
}

export interface Forwarding {
  /** The client's URI, forwarded as X-Forwarded-Uri. */
  readonly uri?: string
  /** Address of the client's connection. */
  readonly client: string | undefined
}

/**
 * Request headers as alternating names and values, without pseudo-headers, connection headers and credentials. An
 * upgrade is preserved.
 */
export function requestHeaders (request: IncomingMessage, { uri, client }: Forwarding): string[] {
  const upgrade = requestsUpgrade(request)
  const left = new Set([
    ...CONNECTION_HEADERS, ...named(request.headers.connection), 'expect', 'host', 'content-length', 'x-forwarded-for',
    'authorization', ...(uri === undefined ? [] : ['x-forwarded-uri'])
  ])
  const headers: string[] = ['Host', request.headers.host ?? authorityOf(request)]
  const forwarded: string[] = []
  const { rawHeaders } = request
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string] // names and values alternate
    const lower = name.toLowerCase()
    if (lower === 'x-forwarded-for') forwarded.push(value)
    if (!left.has(lower) && !name.startsWith(':')) headers.push(name, value)
  }
  if (client !== undefined) forwarded.push(client.replace(/^::ffff:(?=\d+\.)/, ''))
  if (forwarded.length > 0) headers.push('X-Forwarded-For', forwarded.join(', '))
  if (uri !== undefined) headers.push('X-Forwarded-Uri', uri)
  if (upgrade) headers.push('Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? '')
  headers.push(...lengthOf(request))
  return headers
}

const authorityOf = ({ headers }: IncomingMessage): string => String(headers[':authority'] ?? '')

const BODYLESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** Framing headers of the forwarded body. */
function lengthOf (request: IncomingMessage): string[] {
  const { 'content-length': length } = request.headers
  if (length !== undefined) return ['Content-Length', length]
  if (hasBody(request)) return ['Transfer-Encoding', 'chunked']
  return BODYLESS_METHODS.has(request.method ?? '') ? [] : ['Content-Length', '0']
}

/** HTTP/2 bodies may come without Content-Length. */
export function hasBody (request: IncomingMessage): boolean {
  const { headers } = request
  if (headers['transfer-encoding'] !== undefined) return true
  if (headers['content-length'] !== undefined) return Number(headers['content-length']) > 0
  return (request as { stream?: { endAfterHeaders?: boolean } }).stream?.endAfterHeaders === false
}

/** Response headers by lower-case name; repeated ones as a list. */
export function answerHeaders ({ headers }: IncomingMessage): Record<string, string | string[]> {
  const left = new Set([...CONNECTION_HEADERS, ...named(headers.connection), ...CORS_HEADERS])
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string | string[]] =>
    entry[1] !== undefined && !left.has(entry[0])))
}
