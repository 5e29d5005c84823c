/** Raw headers: repeated, and in any case. Reads them and removes them from requests. */
import type { IncomingMessage } from 'node:http'

/** Removes headers from `headers` and `rawHeaders`. @param isHidden receives names in their original case */
export function removeHeaders ({ headers, rawHeaders }: IncomingMessage, isHidden: (name: string) => boolean): void {
  let kept = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string // names and values alternate
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
  rawHeaders.length = kept
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes a value as UTF-8; Node returns one character per byte.
 * @throws Error for invalid UTF-8, which could make two users look the same
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

/**
 * Non-empty values of all headers with this name, in order.
 * @param name in lower case.
 * @throws Error for invalid UTF-8
 */
export function valuesOf (rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] as string
    if (sent.length === name.length && sent.toLowerCase() === name && rawHeaders[at + 1] !== '') {
      values.push(headerText(rawHeaders[at + 1] as string, sent))
    }
  }
  return values
}

/** Decodes the percent-encoded key of an extra header; returns it unchanged if malformed. */
export function extraKey (encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
