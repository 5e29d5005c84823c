import { quote } from '../schemas/quote.js'
import type { Guard } from './backend.js'

/** Near the limit of embedded stores; the same on every back end, so that data can be moved between them. */
const MAX_KEY_LENGTH = 1900
const PRINTABLE = /^[\x21-\x7e]+$/

export const isKey = (key: string): boolean => key.length <= MAX_KEY_LENGTH && PRINTABLE.test(key)

/** Checks a key to be written: 1 to 1,900 ASCII characters from `!` to `~`. @throws TypeError */
export function checkKey (key: string): void {
  if (!isKey(key)) {
    throw new TypeError(`a key is 1 to ${MAX_KEY_LENGTH} printable ASCII characters: ${quote(key)}`)
  }
}

/** @throws TypeError for a guard that no key can match, which stores would treat differently */
export function checkGuards (guards: readonly Guard[]): void {
  for (const { key, revision } of guards) {
    checkKey(key)
    if (!Number.isSafeInteger(revision) || revision <= 0) {
      throw new TypeError(`a guard needs a revision that a key can have, not ${revision}`)
    }
  }
}

/** A lease's time to live in whole seconds, rounded up. @throws TypeError unless it is a positive number */
export function wholeSeconds (ttlSeconds: number): number {
  if (!Number.isFinite(ttlSeconds) || ttlSeconds <= 0) {
    throw new TypeError(`a lease needs a positive number of seconds, not ${ttlSeconds}`)
  }
  return Math.ceil(ttlSeconds)
}

/** The character after '/': ends the range of everything below a path. */
const AFTER_SLASH = '0'

/** The range of all keys below a path that ends in '/', or of one key. */
export const rangeOf = (scope: string): { start: string, end: string } =>
  ({ start: scope, end: scope.endsWith('/') ? scope.slice(0, -1) + AFTER_SLASH : `${scope}\0` })
