/** The order of a list that was merged: items the patch speaks of as it has them, the others among them where they were. */
import { isObject, malformed, patchMismatch, shown } from './strategic-directives.js'

/** What identifies each item of a list; without a merge key itself. @throws StatusError 422 */
export function keysOf (items: readonly unknown[], mergeKey: string | undefined, at: string): unknown[] {
  return items.map((item, index) => keyOf(item, mergeKey, `${at}[${index}]`))
}

/** @throws StatusError 422 */
export function keyOf (item: unknown, mergeKey: string | undefined, at: string): unknown {
  if (mergeKey === undefined) {
    if (typeof item === 'object') throw patchMismatch(at, 'this list holds values, none of which is an object, a list or null')
    return item
  }
  if (!isObject(item)) throw patchMismatch(at, 'the items of this list are objects')
  if (!Object.hasOwn(item, mergeKey)) throw patchMismatch(at, `${shown(mergeKey)}, the merge key of this list, is missing`)
  return item[mergeKey]
}

/** Where each first stands. */
export function positions (keys: readonly unknown[]): Map<unknown, number> {
  const found = new Map<unknown, number>()
  keys.forEach((key, index) => { if (!found.has(key)) found.set(key, index) })
  return found
}

/**
 * Where the items of a list stood before it was patched. As in the convention what the patch adds takes the places of what it
 * deletes, as many as there are, and so counts as having stood behind the rest.
 */
export function placesBefore (keys: readonly unknown[], deleted: ReadonlySet<unknown>, said: readonly unknown[]): Map<unknown, number> {
  const kept = keys.filter(key => !deleted.has(key))
  if (kept.length === keys.length) return positions(keys)
  const there = new Set(kept)
  const added = [...new Set(said)].filter(key => !there.has(key))
  return positions([...kept, ...added.slice(0, keys.length - kept.length)])
}

/**
 * The items whose keys are `wanted`, in that order, and the others in the order that was `there`. Of a wanted item and another
 * one, the other goes first only where both were there in that order.
 */
export function arranged (items: readonly unknown[], keys: readonly unknown[], wanted: ReadonlyMap<unknown, number>, there: ReadonlyMap<unknown, number>): unknown[] {
  const named: number[] = []
  const others: number[] = []
  keys.forEach((key, index) => { (wanted.has(key) ? named : others).push(index) })
  const by = (order: ReadonlyMap<unknown, number>) => (a: number, b: number): number => (order.get(keys[a]) ?? order.size) - (order.get(keys[b]) ?? order.size)
  named.sort(by(wanted))
  others.sort(by(there))
  const made: unknown[] = []
  let next = 0
  for (const index of named) {
    const place = there.get(keys[index]) ?? 0 // nothing stood before what was not there
    while (next < others.length && (there.get(keys[others[next] as number]) ?? place) < place) made.push(items[others[next++] as number]) // below the length
    made.push(items[index])
  }
  for (; next < others.length; next++) made.push(items[others[next] as number]) // below the length
  return made
}

/**
 * That items of the patch stand in the order it asks for; those with a directive don't count.
 * @throws StatusError 400
 */
export function checkOrder (patchKeys: readonly unknown[], order: readonly unknown[], at: string): void {
  if (order.length === 0) return
  let next = 0
  for (const key of order) if (next < patchKeys.length && patchKeys[next] === key) next++
  if (next < patchKeys.length) throw malformed(at, 'the items of the patch are not all in its $setElementOrder, or not in that order')
}
