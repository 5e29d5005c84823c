/** The random end of a name that the server makes up. */
import { randomFillSync } from 'node:crypto'

/** Neither vowels nor what looks like them, so that no word comes of it. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
export const SUFFIX_LENGTH = 5

/** Asking for a few random bytes costs as much as asking for many. */
const pool = Buffer.alloc(1024)
let used = pool.length

/** Five letters or digits. */
export function randomSuffix (): string {
  if (used + SUFFIX_LENGTH > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let suffix = ''
  for (const end = used + SUFFIX_LENGTH; used < end; used++) suffix += LETTERS[(pool[used] ?? 0) % LETTERS.length]
  return suffix
}
