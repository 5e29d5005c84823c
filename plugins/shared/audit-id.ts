/** The ID of a request, in its audit events, its log lines and the `audit-id` header of its response. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Accepts client-supplied IDs without characters that delimit log fields. */
const NAME = /^[\w.:/+=@-]{1,256}$/

/**
 * Returns the client's Audit-ID header when it is valid, so that a request can be traced across servers; otherwise a
 * new ID.
 */
export function auditIdOf (headers: IncomingHttpHeaders): string {
  const sent = headers['audit-id']
  return typeof sent === 'string' && NAME.test(sent) ? sent : randomUUID()
}
