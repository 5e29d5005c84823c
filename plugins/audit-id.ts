/**
 * Names for requests: UUIDs of version 4 whose last 32 bits count, over 90 random ones that are drawn anew when the
 * count is through. Unique like any others, and a tenth of the cost of drawing all bits for each. They are no secret.
 */
import { randomUUID } from 'node:crypto'

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const MOST = 0xffffffff

let drawn = ''
let count = MOST

export function nextAuditId (): string {
  if (count === MOST) {
    drawn = randomUUID().slice(0, -8)
    count = 0
  }
  const now = count++
  return `${drawn}${HEX[now >>> 24]}${HEX[now >>> 16 & 255]}${HEX[now >>> 8 & 255]}${HEX[now & 255]}`
}
