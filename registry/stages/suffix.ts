import { randomBytes } from 'node:crypto'

/** No vowels or similar digits, so that suffixes do not form words. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
export const SUFFIX_LENGTH = 5

/** The random end of a generated name: five letters or digits. */
export function randomSuffix (): string {
  let suffix = ''
  for (const byte of randomBytes(SUFFIX_LENGTH)) suffix += LETTERS[byte % LETTERS.length]
  return suffix
}
