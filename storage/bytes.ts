/** Memory of its own for what lives long: Node's shared pool would keep short-lived bytes beside it alive. */

const NEWLINE = 0x0a
const NEWLINE_LENGTH = 1

/** The text and a newline in memory of its own. */
export function ownBytes (text: string): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafeSlow(length + NEWLINE_LENGTH)
  bytes.write(text, 0, length)
  bytes[length] = NEWLINE
  return bytes
}
