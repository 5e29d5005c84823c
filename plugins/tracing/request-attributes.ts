/** Fields of a request for the log and for spans. The query is omitted, because it may contain secrets. */
import type { FastifyReply } from 'fastify'
import type { ServedRequest } from '../../answers/request-context.js'
import type { Fields } from '../../registry/trace.js'

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries({
  get: 'Get', list: 'List', watch: 'Watch', create: 'Create', update: 'Update', patch: 'Patch', delete: 'Delete',
  deletecollection: 'Delete'
}))
/** Maximum characters of client-supplied values. */
const MAX_VALUE_LENGTH = 1024

/** The operation's name in the log. */
export const nameOf = ({ method, orch: { info } }: ServedRequest): string =>
  (info.isResourceRequest ? NAMES.get(info.verb) : undefined) ?? `HTTP ${method}`

export function fieldsOf ({ headers, raw, ip, orch: { info, auditId } }: ServedRequest): Fields {
  return {
    url: info.path,
    'user-agent': headers['user-agent'] ?? 'unknown',
    'audit-id': auditId,
    client: clientOf(ip),
    accept: headers.accept ?? 'unknown',
    protocol: `HTTP/${raw.httpVersion}`
  }
}

/** Span attributes, with the names that HTTP servers used in OpenTelemetry at the time of this release. */
export function attributesOf (
  { method, headers, protocol, raw, ip, orch: { info, auditId } }: ServedRequest, reply: FastifyReply
): Fields {
  return {
    'http.method': method,
    'http.target': info.path.slice(0, MAX_VALUE_LENGTH),
    'http.scheme': protocol,
    'http.host': String(headers[':authority'] ?? headers.host ?? '').slice(0, MAX_VALUE_LENGTH),
    'http.flavor': raw.httpVersionMajor === 2 ? '2' : raw.httpVersion,
    'http.user_agent': (headers['user-agent'] ?? '').slice(0, MAX_VALUE_LENGTH),
    'net.transport': 'ip_tcp',
    'net.peer.ip': clientOf(ip),
    'audit-id': auditId,
    ...(reply.raw.headersSent ? { 'http.status_code': reply.raw.statusCode } : {})
  }
}

/** Unknown if the client disconnected before the address was first read. */
const clientOf = (ip: string | undefined): string => ip?.replace(/^::ffff:(?=\d+\.)/, '') ?? 'unknown'
