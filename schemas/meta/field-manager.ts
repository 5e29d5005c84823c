/** Validation of field manager names. */
import type { Report } from '../language/declare.js'
import { invalid, tooLong } from '../rules/findings.js'

const MAX_BYTES = 128
/** Upstream's unicode.IsPrint: of the spaces only U+0020. */
const PRINTABLE = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u

export function validateFieldManager (manager: string, field: string, report: Report): void {
  if (Buffer.byteLength(manager) > MAX_BYTES) tooLong(report, field, MAX_BYTES)
  let position = 0
  for (const letter of manager) {
    if (position > MAX_BYTES) return
    if (!PRINTABLE.test(letter)) {
      invalid(report, field, manager, `invalid character ${codePoint(letter)} (at position ${position})`)
    }
    position += Buffer.byteLength(letter)
  }
}

const codePoint = (letter: string): string =>
  `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A valid manager name from any text: unprintable characters removed, truncated. */
export function managerOf (text: string): string {
  let [made, bytes] = ['', 0]
  for (const letter of text) {
    if (!PRINTABLE.test(letter)) continue
    bytes += Buffer.byteLength(letter)
    if (bytes > MAX_BYTES) break
    made += letter
  }
  return made
}
