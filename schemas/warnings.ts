/** Warning headers (RFC 7234, code 299) with upstream's limits; duplicates are dropped. */

/** Characters in total. Beyond that, each text is truncated. */
const MAX_TOTAL = 4096
const MAX_EACH = 256

/** Values of the Warning header, one for each text. */
export function warningHeaders (texts: readonly string[]): string[] {
  const all = [...new Set(texts)].filter(text => text !== '')
  if (all.reduce((sum, { length }) => sum + length, 0) <= MAX_TOTAL) return all.map(header)
  const headers: string[] = []
  for (let written = 0, at = 0; at < all.length && written < MAX_TOTAL; at++) {
    const text = Array.from((all[at] as string).slice(0, 2 * MAX_EACH)).slice(0, MAX_EACH).join('') // by code point
    written += text.length
    headers.push(header(text))
  }
  return headers
}

/** UTF-8 bytes as Latin-1 characters, which is what Node's headers take. Control characters become `?`. */
// eslint-disable-next-line no-control-regex -- matches control characters
const CONTROLS = /[\x00-\x1f\x7f]/g
const header = (text: string): string =>
  `299 - "${Buffer.from(text.toWellFormed().replace(CONTROLS, '?').replace(/["\\]/g, '\\$&')).toString('latin1')}"`
