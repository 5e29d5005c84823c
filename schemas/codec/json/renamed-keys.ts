/** The members of a map whose keys have other names, found in its JSON. */
import { sortedKeys } from './escape.js'
import type { RenamedKeys, Signs } from '../renaming.js'
import type { Steps } from '../../steps.js'
import type { Tape } from './tape.js'

/** A step takes less than a millisecond for as many members. */
const STEP = 512

export interface NamedMember {
  readonly key: string
  /** The token of its value. */
  readonly value: number
  /** What the value becomes; undefined if it stays. */
  readonly text: string | undefined
}

/** All members with their new keys, ascending as the server writes them; undefined if nothing changes. */
export function * namedMembers (
  tape: Tape, map: number, { of, valueOf }: RenamedKeys, signs: Signs
): Steps<NamedMember[] | undefined> {
  const { starts, ends, notes } = tape
  const all = new Map<string, NamedMember>()
  let isChanged = false
  for (let key = map + 1, stop = notes[map] as number; key < stop; key = tape.after(key + 1)) {
    const before = tape.key(key)
    const value = key + 1
    const isConcerned = signs.between(starts[key] as number, ends[value] as number)
    const name = isConcerned ? of(before) : before
    const renamed = isConcerned && tape.isText(value) ? valueOf(before)?.(tape.value(value) as string) : undefined
    const text = renamed !== undefined && renamed !== tape.value(value) ? renamed : undefined
    isChanged ||= name !== before || text !== undefined
    all.set(name, { key: name, value, text })
    if (all.size % STEP === 0) yield
  }
  if (!isChanged) return undefined
  const sorted = sortedKeys(Object.fromEntries(all))
  yield
  return sorted.map(key => all.get(key) as NamedMember) // each is one of its keys
}
