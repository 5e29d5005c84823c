/** The chunks of HTTP/1.1 that all watches share. */

/** The framing of a chunk of that length. */
export const chunkEnds = (length: number): readonly [head: string, tail: string] =>
  [`${length.toString(16)}\r\n`, '\r\n']

/** Frames a chunk in a separate allocation, because it is cached for other watchers. */
export function chunk (bytes: Uint8Array): Buffer {
  const [head, tail] = chunkEnds(bytes.length)
  const framed = Buffer.allocUnsafeSlow(head.length + bytes.length + tail.length)
  framed.write(head, 0, 'latin1')
  framed.set(bytes, head.length)
  framed.write(tail, head.length + bytes.length, 'latin1')
  return framed
}

/** The contents of a framed chunk, without copying. */
export function chunkContent (framed: Buffer): Buffer {
  return framed.subarray(framed.indexOf('\n') + 1, -2)
}
