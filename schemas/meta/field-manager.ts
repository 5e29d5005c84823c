/** The names of field managers: how long they may be, and of which characters. */
import type { Report } from '../language/declare.js'
import { invalid, tooLong } from '../rules/findings.js'

const MOST_BYTES = 128
/** Spaces other than the plain one count as unprintable, as convention. */
const PRINTABLE = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u

export function validateFieldManager (manager: string, field: string, report: Report): void {
  if (Buffer.byteLength(manager) > MOST_BYTES) tooLong(report, field, MOST_BYTES)
  let position = 0
  for (const letter of manager) {
    if (position > MOST_BYTES) return
    if (!PRINTABLE.test(letter)) invalid(report, field, manager, `invalid character ${codePoint(letter)} (at position ${position})`)
    position += Buffer.byteLength(letter)
  }
}

const codePoint = (letter: string): string => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** What of a text can be the name of a manager. */
export function managerOf (text: string): string {
  let [made, bytes] = ['', 0]
  for (const letter of text) {
    if (!PRINTABLE.test(letter)) continue
    bytes += Buffer.byteLength(letter)
    if (bytes > MOST_BYTES) break
    made += letter
  }
  return made
}
