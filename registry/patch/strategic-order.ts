/** Orders merged lists: items of the patch in its order, the others around them in their previous order. */
import { malformed, patchMismatch } from './strategic-directives.js'
import { quote } from '../../schemas/quote.js'
import { isObject } from '../../schemas/language/values.js'

/** The merge keys of the items, or the items themselves without a merge key. @throws StatusError 422 */
export function keysOf (items: readonly unknown[], mergeKey: string | undefined, at: string): unknown[] {
  return items.map((item, index) => keyOf(item, mergeKey, `${at}[${index}]`))
}

/** @throws StatusError 422 */
export function keyOf (item: unknown, mergeKey: string | undefined, at: string): unknown {
  if (mergeKey === undefined) {
    if (typeof item === 'object') {
      throw patchMismatch(at, 'this list holds values, none of which is an object, a list or null')
    }
    return item
  }
  if (!isObject(item)) throw patchMismatch(at, 'the items of this list are objects')
  if (!Object.hasOwn(item, mergeKey)) {
    throw patchMismatch(at, `${quote(mergeKey)}, the merge key of this list, is missing`)
  }
  return item[mergeKey]
}

/** The first index of each key. */
export function positions (keys: readonly unknown[]): Map<unknown, number> {
  const first = new Map<unknown, number>()
  keys.forEach((key, index) => { if (!first.has(key)) first.set(key, index) })
  return first
}

/**
 * Positions of the items before the patch. As upstream, added items take the places of deleted ones and count as
 * positioned after the rest.
 */
export function placesBefore (
  keys: readonly unknown[], deleted: ReadonlySet<unknown>, patchKeys: readonly unknown[]
): Map<unknown, number> {
  const kept = keys.filter(key => !deleted.has(key))
  if (kept.length === keys.length) return positions(keys)
  const before = new Set(kept)
  const added = [...new Set(patchKeys)].filter(key => !before.has(key))
  return positions([...kept, ...added.slice(0, keys.length - kept.length)])
}

/**
 * Returns items with `desired` keys in that order, the others in their order `before`. An item of the others precedes a
 * desired one only if it did so before.
 */
export function reorder (
  items: readonly unknown[], keys: readonly unknown[], desired: ReadonlyMap<unknown, number>,
  before: ReadonlyMap<unknown, number>
): unknown[] {
  const named: number[] = []
  const others: number[] = []
  keys.forEach((key, index) => { (desired.has(key) ? named : others).push(index) })
  const by = (order: ReadonlyMap<unknown, number>) =>
    (a: number, b: number): number => (order.get(keys[a]) ?? order.size) - (order.get(keys[b]) ?? order.size)
  named.sort(by(desired))
  others.sort(by(before))
  const merged: unknown[] = []
  let next = 0
  for (const index of named) {
    const place = before.get(keys[index]) ?? 0 // new items have no predecessors
    // below the length
    while (next < others.length && (before.get(keys[others[next] as number]) ?? place) < place) {
      merged.push(items[others[next++] as number])
    }
    merged.push(items[index])
  }
  for (; next < others.length; next++) merged.push(items[others[next] as number]) // below the length
  return merged
}

/**
 * Checks that the items of the patch, apart from directives, follow its $setElementOrder.
 * @throws StatusError 400
 */
export function checkOrder (patchKeys: readonly unknown[], order: readonly unknown[], at: string): void {
  if (order.length === 0) return
  let next = 0
  for (const key of order) if (next < patchKeys.length && patchKeys[next] === key) next++
  if (next < patchKeys.length) {
    throw malformed(at, 'the items of the patch are not all in its $setElementOrder, or not in that order')
  }
}
