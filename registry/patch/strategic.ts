/**
 * Strategic merge patch: a merge patch that uses the declarations to merge lists, by merge key or as sets of values,
 * and that has directives for changes a plain difference cannot express:
 *
 *     {"spec":{"containers":[{"name":"web","image":"nginx:2"},{"name":"old","$patch":"delete"}]}}
 *
 * It matches upstream, down to the order of merged lists, with these exceptions: directives are never stored as
 * content, `$patch: merge` states the default, and raw JSON merges like undeclared objects.
 */
import { planOf } from '../../schemas/language/plan.js'
import type { Message } from '../../schemas/language/types.js'
import { tooLarge } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import {
  contentOfItems, malformed, patchMismatch, put, memberPath, contentOfMembers, contentOf, directiveOf, readPatch,
  type Plain
} from './strategic-directives.js'
import { reorder, checkOrder, keyOf, keysOf, placesBefore, positions } from './strategic-order.js'
import { placeOf, type Place, type Members } from './strategic-places.js'
import { quote } from '../../schemas/quote.js'
import { isObject } from '../../schemas/language/values.js'

/** List items visited. Only patches that repeat items come close. */
const MAX_STEPS = 300_000
/** List items visited in one step, which takes about a millisecond. */
const VISITED_PER_STEP = 1000

/**
 * Changes `object`, of the type of `message`, but never the patch, which a retry applies again.
 * @throws StatusError 400 for a malformed patch, 422 if it does not fit the object, 413 if it takes too long
 */
export function strategicMerge (message: Message, object: Plain, patch: Plain): Steps<Plain> {
  return new StrategicMerger().object(planOf(message), object, patch, '')
}

const ownMember = (object: Plain, name: string): unknown => Object.hasOwn(object, name) ? object[name] : undefined

/** A member, or the items of a list, and what a patch has for them. */
interface Changed { readonly place: Place, readonly existing: unknown, readonly value: unknown, readonly at: string }
interface ChangedItems {
  readonly place: Place
  readonly mergeKey: string
  readonly existing: readonly unknown[]
  readonly patch: readonly unknown[]
  readonly at: string
}

class StrategicMerger {
  #steps = 0
  #sinceYield = 0

  /** Counts what is visited; returns whether a step is done. @throws StatusError 413 */
  #count (steps: number): boolean {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) {
      throw tooLarge('the strategic merge patch takes too many steps, as it names the same items many times')
    }
    this.#sinceYield += steps
    if (this.#sinceYield < VISITED_PER_STEP) return false
    this.#sinceYield = 0
    return true
  }

  * object (members: Members, object: Plain, patch: Plain, at: string): Steps<Plain> {
    const read = readPatch(patch, at)
    const { directive, retainKeys, orders, deletions, changes } = read
    if (directive === 'delete') return {}
    if (directive === 'replace') return contentOfMembers(read, at)

    if (this.#count(changes.length)) yield
    if (retainKeys !== undefined) {
      const names = Object.keys(object)
      this.#count(names.length)
      for (const name of names) if (!retainKeys.has(name)) Reflect.deleteProperty(object, name)
    }
    const before = orders.map(([name]) => ownMember(object, name))
    for (const [name, value] of changes) {
      const existing = ownMember(object, name)
      const changed = { place: placeOf(members, name, value), existing, value, at: memberPath(at, name) }
      const patched = value === null ? undefined : yield * this.#value(changed)
      if (patched === undefined) Reflect.deleteProperty(object, name)
      else put(object, name, patched)
    }
    orders.forEach(([name, order], index) => {
      const place = placeOf(members, name, order)
      const list = this.#ordered(
        place, { before: before[index], patch: ownMember(patch, name), after: ownMember(object, name), order },
        memberPath(at, name)
      )
      if (list !== undefined) put(object, name, list)
    })
    for (const [name, deletedItems] of deletions) {
      const { strategy, mergeKey } = placeOf(members, name, deletedItems)
      if (strategy !== 'merge' || mergeKey !== undefined) {
        throw malformed(
          at, `$deleteFromPrimitiveList is for lists of values that are merged, and ${quote(name)} is none`
        )
      }
      const list = ownMember(object, name)
      const unwanted = new Set(deletedItems)
      // a declared name, never `__proto__`
      if (Array.isArray(list)) object[name] = list.filter(item => !unwanted.has(item))
    }
    return object
  }

  /** The value to replace `existing`; undefined to delete it. */
  * #value ({ place, existing, value, at }: Changed): Steps<unknown> {
    if (isObject(existing) && isObject(value)) {
      return place.strategy === 'replace'
        ? contentOf(value, at)
        : yield * this.object(place.members, existing, value, at)
    }
    if (!Array.isArray(value)) return contentOf(value, at)
    if (place.strategy !== 'merge') return replaced(value, at)
    if (!Array.isArray(existing)) return contentOfItems(value, at)
    if (this.#count(existing.length + value.length)) yield
    const { mergeKey } = place
    if (mergeKey === undefined) return mergedValues(existing, value, at)
    return yield * this.#items({ place, mergeKey, existing, patch: value, at })
  }

  /** Merges a list of objects by merge key. */
  * #items ({ place, mergeKey, existing, patch, at }: ChangedItems): Steps<unknown[]> {
    const changes: Array<{ key: unknown, item: Plain, path: string }> = []
    const deleted = new Set<unknown>()
    let replace = false
    patch.forEach((item, index) => {
      const path = `${at}[${index}]`
      if (!isObject(item)) throw patchMismatch(path, 'the items of this list are objects')
      const directive = directiveOf(item, path)
      if (directive === 'replace') replace = true
      else if (directive === 'delete') deleted.add(keyOf(item, mergeKey, path))
      else changes.push({ key: keyOf(item, mergeKey, path), item, path })
    })
    if (replace) return changes.map(({ item, path }) => contentOf(item, path))

    const items = existing.filter(item => !isObject(item) || !deleted.has(ownMember(item, mergeKey)))
    const keys = keysOf(items, mergeKey, at)
    const order = positions(keys)
    const added = new Map<unknown, number>()
    for (const { key, item, path } of changes) {
      const index = order.get(key) ?? added.get(key)
      if (index === undefined) {
        added.set(key, items.length)
        items.push(contentOf(item, path))
        keys.push(key)
      // objects with a merge key
      } else items[index] = yield * this.object(place.members, items[index] as Plain, item, path)
    }
    return reorder(items, keys, positions(changes.map(({ key }) => key)), order)
  }

  /** Sorts a list by its $setElementOrder; undefined if the list is missing. */
  #ordered (
    { strategy, mergeKey }: Place,
    { before, patch, after, order }: { before: unknown, patch: unknown, after: unknown, order: readonly unknown[] },
    at: string
  ): unknown[] | undefined {
    if (strategy !== 'merge') throw malformed(at, '$setElementOrder is for lists that are merged, and this is none')
    if (patch !== undefined && !Array.isArray(patch)) throw malformed(at, 'what has a $setElementOrder must be a list')
    this.#count(order.length)
    const desiredKeys = order.map(item => {
      if (mergeKey === undefined) return item
      if (!isObject(item) || !Object.hasOwn(item, mergeKey)) {
        throw malformed(at, `each item of $setElementOrder must be an object with ${quote(mergeKey)}`)
      }
      return item[mergeKey]
    })
    const directives = (patch ?? [])
      .map((item, index) => isObject(item) ? directiveOf(item, `${at}[${index}]`) : undefined)
    const patchKeys = keysOf((patch ?? []).filter((_, index) => directives[index] === undefined), mergeKey, at)
    if (patch !== undefined) checkOrder(patchKeys, desiredKeys, at)
    if (!Array.isArray(after)) return undefined
    this.#count(after.length)
    const keyIn = (item: unknown): unknown =>
      mergeKey !== undefined && isObject(item) ? ownMember(item, mergeKey) : item
    const deleted = new Set((patch ?? []).filter((_, index) => directives[index] === 'delete').map(keyIn))
    const existing = placesBefore(Array.isArray(before) ? before.map(keyIn) : [], deleted, patchKeys)
    return reorder(after, keysOf(after, mergeKey, at), positions(desiredKeys), existing)
  }
}

/** Replaces a whole list. Deleting items from it is an error, as the patch must list those that stay. */
function replaced (list: readonly unknown[], at: string): unknown[] {
  list.forEach((item, index) => {
    const path = `${at}[${index}]`
    if (isObject(item) && directiveOf(item, path) === 'delete') {
      throw patchMismatch(path, 'this list is replaced as a whole, so $patch: delete says nothing')
    }
  })
  return contentOfItems(list, at)
}

/** Merges a list of unique values. */
function mergedValues (existing: readonly unknown[], patch: readonly unknown[], at: string): unknown[] {
  const added = keysOf(patch, undefined, at)
  const all = [...new Set([...existing, ...added])]
  return reorder(all, all, positions(added), positions(existing))
}
