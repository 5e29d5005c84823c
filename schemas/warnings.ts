/** Warnings to clients as headers (RFC 7234, code 299), bounded as the convention has them: what is said twice is said once. */

/** Characters of all of them together; where there are more, each is cut. */
const MOST_ALTOGETHER = 4096
const MOST_OF_ONE = 256

/** Values of the Warning header, one for each text. */
export function warningHeaders (texts: readonly string[]): string[] {
  const all = [...new Set(texts)].filter(text => text !== '')
  if (all.reduce((sum, { length }) => sum + length, 0) <= MOST_ALTOGETHER) return all.map(header)
  const told: string[] = []
  for (let written = 0, at = 0; at < all.length && written < MOST_ALTOGETHER; at++) {
    const text = Array.from((all[at] as string).slice(0, 2 * MOST_OF_ONE)).slice(0, MOST_OF_ONE).join('') // below the length; no character is cut in two
    written += text.length
    told.push(header(text))
  }
  return told
}

/** The bytes of its UTF-8, each as a character, as headers hold them. What is no text may end no line. */
// eslint-disable-next-line no-control-regex -- they are what is looked for
const header = (text: string): string => `299 - "${Buffer.from(text.toWellFormed().replace(/[\x00-\x1f\x7f]/g, '?').replace(/["\\]/g, '\\$&')).toString('latin1')}"`
