/** Requests that the listener refuses before Fastify sees them, each with a Status. */
import { METHODS, type IncomingMessage, type ServerResponse } from 'node:http'

/** HTTP/2 allows any method name; the HTTP/1 parser rejects unknown ones. */
const METHODS_KNOWN: ReadonlySet<string> = new Set(METHODS)

/** The request line's version is client input and cannot decide this. */
export const overHttp1 = (request: IncomingMessage): boolean => !('stream' in request)

export interface Refusal {
  readonly code: number
  readonly reason: string
  readonly message: string
  /** True if the rest of the connection cannot be trusted. */
  readonly closes?: boolean
}

export const UNMET: Refusal = {
  code: 417, reason: 'BadRequest', message: 'the request expects something other than 100-continue', closes: true
}
const TOO_OLD: Refusal = {
  code: 400, reason: 'BadRequest', message: 'the request names no version of HTTP, or 0.9', closes: true
}
const TOO_NEW: Refusal = {
  code: 505, reason: 'BadRequest', message: 'this connection speaks HTTP/1.1; HTTP/2 is agreed on with TLS',
  closes: true
}
export const NO_TUNNELS: Refusal = {
  code: 405, reason: 'MethodNotAllowed', message: 'the server opens no tunnels: CONNECT is not allowed', closes: true
}
const NO_METHOD: Refusal = { code: 405, reason: 'MethodNotAllowed', message: 'the request has an unknown method' }

export function refusalOf (request: IncomingMessage): Refusal | undefined {
  if (!overHttp1(request)) return METHODS_KNOWN.has(request.method ?? '') ? undefined : NO_METHOD
  const { httpVersionMajor: major } = request
  return major === 1 ? undefined : major < 1 ? TOO_OLD : TOO_NEW
}

export const badRequestBody = (code: number, reason: string, message: string): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })

/** User, host or IP address, and port of a URL, as RFC 3986 has them. */
const CHARACTER = String.raw`[\w.~!$&'()*+,;=-]|%[\da-f]{2}`
const ADDRESS = String.raw`\[[\da-f:.]+(?:%25[\w.~-]+)?\]`
const AUTHORITY = new RegExp(`^(?:(?:${CHARACTER}|:)*@)?(?:${ADDRESS}|(?:${CHARACTER})+)(?::\\d*)?$`, 'i')

/**
 * Path and query of a request target, which may be an absolute URL; undefined if invalid. Fragments are rejected,
 * because routers and other readers treat them differently.
 */
export function originForm (target: string): string | undefined {
  if (target.includes('#')) return undefined
  if (target.startsWith('/') || target === '*') return target
  const [, authority = '', path = ''] = /^https?:\/\/([^/?]+)(.*)$/i.exec(target) ?? []
  if (!AUTHORITY.test(authority)) return undefined
  return path.startsWith('/') ? path : `/${path}`
}

export function refuse (response: ServerResponse, { code, reason, message, closes = false }: Refusal): void {
  if (closes) response.shouldKeepAlive = false
  const body = badRequestBody(code, reason, message)
  response.writeHead(code, {
    'content-type': 'application/json', 'cache-control': 'no-cache, private', 'content-length': Buffer.byteLength(body)
  })
  response.end(body)
}
