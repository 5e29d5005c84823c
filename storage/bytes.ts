const NEWLINE = 0x0a
const NEWLINE_LENGTH = 1

/** Encodes the text and a newline into a separate allocation. Node's shared pool would keep unrelated short-lived bytes alive as long as these. */
export function ownBytes (text: string): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafeSlow(length + NEWLINE_LENGTH)
  bytes.write(text, 0, length)
  bytes[length] = NEWLINE
  return bytes
}
