/**
 * Entries by the stored value that they were decoded from, for servers of this process that continue from a state of
 * another. The map is weak in values, so it is empty unless such states exist.
 */
import type { Revision } from '../backend.js'
import type { Entry } from './entry.js'

interface Decoded { readonly type: object, readonly entry: Entry }

const byValue = new WeakMap<Uint8Array, Decoded>()

/** @param type what decoding depends on besides the value */
export function rememberDecoded (value: Uint8Array, type: object, entry: Entry): void {
  byValue.set(value, { type, entry })
}

/** The entry of the same bytes in memory, at the same key and revision; it is shared. */
export function decodedBefore (value: Uint8Array, type: object, key: string, revision: Revision): Entry | undefined {
  const decoded = byValue.get(value)
  if (decoded?.type !== type) return undefined
  const { entry } = decoded
  return entry.revision === revision && entry.key === key ? entry : undefined
}
