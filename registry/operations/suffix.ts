import { randomFillSync } from 'node:crypto'

/** No vowels or similar digits, so that suffixes do not form words. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
export const SUFFIX_LENGTH = 5

/** Many random bytes cost as much as a few. */
const pool = Buffer.alloc(1024)
let used = pool.length

/** The random end of a generated name: five letters or digits. */
export function randomSuffix (): string {
  if (used + SUFFIX_LENGTH > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let suffix = ''
  for (const end = used + SUFFIX_LENGTH; used < end; used++) suffix += LETTERS[(pool[used] ?? 0) % LETTERS.length]
  return suffix
}
