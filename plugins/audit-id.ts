/**
 * Names for requests: UUIDs of version 4 whose last 32 bits count, over 90 random ones that are drawn anew when the
 * count is through. Unique like any others, and a tenth of the cost of drawing all bits for each. They are no secret.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const MOST = 0xffffffff

let drawn = ''
let count = MOST

/** Of the name a request may bring: nothing that divides or ends a field of a log. */
const NAME = /^[\w.:/+=@-]{1,256}$/

/**
 * The name of a request, so that one may be followed through all the servers it passes: what whoever sent it calls it, where that
 * can be a name, else a new one.
 */
export function auditIdOf (headers: IncomingHttpHeaders): string {
  const sent = headers['audit-id']
  return typeof sent === 'string' && NAME.test(sent) ? sent : nextAuditId()
}

export function nextAuditId (): string {
  if (count === MOST) {
    drawn = randomUUID().slice(0, -8)
    count = 0
  }
  const now = count++
  return `${drawn}${HEX[now >>> 24]}${HEX[now >>> 16 & 255]}${HEX[now >>> 8 & 255]}${HEX[now & 255]}`
}
