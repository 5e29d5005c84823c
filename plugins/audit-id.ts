/**
 * Generates request IDs: version 4 UUIDs with 90 random bits and a 32-bit counter. The random bits are redrawn when the counter wraps. This
 * costs a tenth of a fully random UUID. The IDs are not secret.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const MAX_COUNT = 0xffffffff

let drawn = ''
let count = MAX_COUNT

/** Accepts client-supplied IDs without characters that delimit log fields. */
const NAME = /^[\w.:/+=@-]{1,256}$/

/** Returns the client's Audit-ID header when it is valid, so that a request can be traced across servers; otherwise a new ID. */
export function auditIdOf (headers: IncomingHttpHeaders): string {
  const sent = headers['audit-id']
  return typeof sent === 'string' && NAME.test(sent) ? sent : nextAuditId()
}

export function nextAuditId (): string {
  if (count === MAX_COUNT) {
    drawn = randomUUID().slice(0, -8)
    count = 0
  }
  const now = count++
  return `${drawn}${HEX[now >>> 24]}${HEX[now >>> 16 & 255]}${HEX[now >>> 8 & 255]}${HEX[now & 255]}`
}
