/** Headers as they stand on the wire: several of one name, names in any case, and how they leave a request. */
import type { IncomingMessage } from 'node:http'

/** Takes headers out of a request, wherever it keeps them. @param isHidden is asked with names as they were sent */
export function removeHeaders ({ headers, rawHeaders }: IncomingMessage, isHidden: (name: string) => boolean): void {
  let kept = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string // they are pairs
    if (isHidden(name)) {
      delete headers[name.toLowerCase()]
      continue
    }
    if (kept !== at) {
      rawHeaders[kept] = name
      rawHeaders[kept + 1] = rawHeaders[at + 1] as string
    }
    kept += 2
  }
  while (rawHeaders.length > kept) rawHeaders.pop() // which is faster than setting the length, for a few
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of a value, which Node hands over a character for each byte.
 * @throws Error for one that is no UTF-8: two users must not become one
 */
export function headerText (value: string, name: string): string {
  // eslint-disable-next-line no-control-regex -- ASCII is the same either way
  if (/^[\u0000-\u007f]*$/.test(value)) return value
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'))
  } catch {
    throw new Error(`the header ${name} is not UTF-8`)
  }
}

/** Non-empty values of all headers of a name, in order. @param name in lower case. @throws Error for one that is no UTF-8 */
export function valuesOf (rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] as string
    if (sent.length === name.length && sent.toLowerCase() === name && rawHeaders[at + 1] !== '') values.push(headerText(rawHeaders[at + 1] as string, sent))
  }
  return values
}

/** A key of extra out of the name of a header, which cannot hold all characters: percent-encoded, or as it is where that is malformed. */
export function extraKey (encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
