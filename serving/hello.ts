/** The first message of a TLS connection. */

/** The type of records that have messages of handshakes; the sizes of the heads of records and of messages. */
const [HANDSHAKE, RECORD_HEAD, MESSAGE_HEAD] = [22, 5, 4]

/**
 * The bytes that the first message takes, in as many records as it may be split into; at least one more than there are
 * if that is unknown. 0 for what is no handshake.
 */
export function helloSize (bytes: Buffer): number {
  const head: number[] = []
  let [at, left] = [0, Infinity]
  while (at + RECORD_HEAD <= bytes.length) {
    if (bytes[at] !== HANDSHAKE) return 0
    const size = bytes.readUInt16BE(at + 3)
    at += RECORD_HEAD
    const missing = MESSAGE_HEAD - head.length
    head.push(...bytes.subarray(at, at + Math.min(size, missing)))
    if (missing > 0 && head.length === MESSAGE_HEAD) {
      const [, high = 0, middle = 0, low = 0] = head
      left = (high << 16 | middle << 8 | low) + missing
    }
    if (left <= size) return at + left
    left -= size
    at += size
  }
  if (bytes.length > at && bytes[at] !== HANDSHAKE) return 0
  return Math.max(bytes.length + 1, left === Infinity ? 0 : at + left)
}
