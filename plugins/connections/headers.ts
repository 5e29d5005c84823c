/** Headers of requests and answers that are passed on: what belongs to one connection stays on it. */
import type { IncomingMessage } from 'node:http'

const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'
])
/** Of a preflight and its request: whom answers are for is this server's word. */
const OF_CORS = ['access-control-allow-credentials', 'access-control-allow-headers', 'access-control-allow-methods', 'access-control-allow-origin']

/** Names that a Connection header says are of that connection too. */
const named = (connection: string | undefined): string[] => (connection ?? '').split(',').map(name => name.trim().toLowerCase()).filter(name => name !== '')

/** Whether a request asks for another protocol. */
export const asksForUpgrade = ({ headers }: IncomingMessage): boolean => (headers.connection ?? '').toLowerCase().includes('upgrade')

export interface Forwarding {
  /** Where the answer is asked for below the backend: the URI that the client asked for. */
  readonly uri?: string
  /** Of the connection the request came on. */
  readonly client: string | undefined
}

/**
 * Names and values in turn, without those of pseudo-headers and of connections; an upgrade stays one. Credentials are not among
 * them any more: who asked was decided before.
 */
export function requestHeaders (request: IncomingMessage, { uri, client }: Forwarding): string[] {
  const upgrade = asksForUpgrade(request)
  const left = new Set([...OF_CONNECTIONS, ...named(request.headers.connection), 'expect', 'host', 'content-length', 'x-forwarded-for', 'authorization', ...(uri === undefined ? [] : ['x-forwarded-uri'])])
  const headers: string[] = ['Host', request.headers.host ?? authorityOf(request)]
  const forwarded: string[] = []
  const { rawHeaders } = request
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string] // they are pairs
    const known = name.toLowerCase()
    if (known === 'x-forwarded-for') forwarded.push(value)
    if (!left.has(known) && !name.startsWith(':')) headers.push(name, value)
  }
  if (client !== undefined) forwarded.push(client.replace(/^::ffff:(?=\d+\.)/, ''))
  if (forwarded.length > 0) headers.push('X-Forwarded-For', forwarded.join(', '))
  if (uri !== undefined) headers.push('X-Forwarded-Uri', uri)
  if (upgrade) headers.push('Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? '')
  headers.push(...lengthOf(request))
  return headers
}

const authorityOf = ({ headers }: IncomingMessage): string => String(headers[':authority'] ?? '')

const TAKE_NO_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

/** How long the body is that is sent on. */
function lengthOf (request: IncomingMessage): string[] {
  const { 'content-length': length } = request.headers
  if (length !== undefined) return ['Content-Length', length]
  if (hasBody(request)) return ['Transfer-Encoding', 'chunked']
  return TAKE_NO_BODY.has(request.method ?? '') ? [] : ['Content-Length', '0']
}

/** Over HTTP/2 a body may come without a word about it in the headers. */
export function hasBody (request: IncomingMessage): boolean {
  const { headers } = request
  if (headers['transfer-encoding'] !== undefined) return true
  if (headers['content-length'] !== undefined) return Number(headers['content-length']) > 0
  return (request as { stream?: { endAfterHeaders?: boolean } }).stream?.endAfterHeaders === false
}

/** Of an answer, by name in lower case; several of a name as a list or, where they may be, in one. */
export function answerHeaders ({ headers }: IncomingMessage): Record<string, string | string[]> {
  const left = new Set([...OF_CONNECTIONS, ...named(headers.connection), ...OF_CORS])
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined && !left.has(entry[0])))
}
