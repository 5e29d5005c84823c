/**
 * Strategic merge patch: a merge patch that knows the declarations, so that lists can be merged as well, by the merge key of
 * their items or as sets of values, and with directives for what a mere difference cannot say:
 *
 *     {"spec":{"containers":[{"name":"web","image":"nginx:2"},{"name":"old","$patch":"delete"}]}}
 *
 * It is the convention's, to the order of merged lists, except in what there could only be an accident: directives are never
 * stored as content, `$patch: merge` says what happens anyway, and raw JSON is merged like objects nobody declared.
 */
import { planOf } from '../../schemas/language/plan.js'
import type { Message } from '../../schemas/language/types.js'
import { tooLarge } from '../../schemas/status.js'
import { nextTurn, turnIsOver } from '../../storage/turns.js'
import { below, directiveOf, isObject, malformed, patchMismatch, put, readPatch, shown, taken, takenItems, takenMembers } from './strategic-directives.js'
import type { Plain } from './strategic-directives.js'
import { arranged, checkOrder, keyOf, keysOf, placesBefore, positions } from './strategic-order.js'
import { placeOf } from './strategic-places.js'
import type { Members, Place } from './strategic-places.js'

/** List items looked at. Only a patch that names the same item again and again comes near. */
const MOST_STEPS = 300_000

/**
 * Changes `object`, of the type of `message`, but never the patch, which a retry applies anew.
 * @throws StatusError 400 for a patch that is none, 422 for one that does not fit the object, 413 for one that takes too long
 */
export async function strategicMerge (message: Message, object: Plain, patch: Plain): Promise<unknown> {
  return await new Merging().object(planOf(message), object, patch, '')
}

const own = (object: Plain, name: string): unknown => Object.hasOwn(object, name) ? object[name] : undefined

class Merging {
  #steps = 0

  async object (members: Members, object: Plain, patch: Plain, at: string): Promise<Plain> {
    const read = readPatch(patch, at)
    const { directive, retainKeys, orders, deletions, changes } = read
    if (directive === 'delete') return {}
    if (directive === 'replace') return takenMembers(read, at)

    if (this.#count(changes.length)) await nextTurn()
    if (retainKeys !== undefined) {
      const names = Object.keys(object)
      this.#count(names.length)
      for (const name of names) if (!retainKeys.has(name)) Reflect.deleteProperty(object, name)
    }
    const before = orders.map(([name]) => own(object, name))
    for (const [name, value] of changes) {
      const made = value === null ? undefined : await this.#value(members, own(object, name), name, value, below(at, name))
      if (made === undefined) Reflect.deleteProperty(object, name)
      else put(object, name, made)
    }
    orders.forEach(([name, order], index) => {
      const place = placeOf(members, name, order)
      const list = this.#ordered(place, { before: before[index], patch: own(patch, name), after: own(object, name), order }, below(at, name))
      if (list !== undefined) put(object, name, list)
    })
    for (const [name, gone] of deletions) {
      const { strategy, mergeKey } = placeOf(members, name, gone)
      if (strategy !== 'merge' || mergeKey !== undefined) throw malformed(at, `$deleteFromPrimitiveList is for lists of values that are merged, and ${shown(name)} is none`)
      const list = own(object, name)
      const unwanted = new Set(gone)
      if (Array.isArray(list)) object[name] = list.filter(item => !unwanted.has(item)) // declared, so no odd name
    }
    return object
  }

  /** What shall stand in the place of `there`; undefined for nothing. */
  async #value (members: Members, there: unknown, name: string, value: unknown, at: string): Promise<unknown> {
    const place = placeOf(members, name, value)
    if (isObject(there) && isObject(value)) {
      return place.strategy === 'replace' ? taken(value, at) : await this.object(place.members, there, value, at)
    }
    if (!Array.isArray(value)) return taken(value, at)
    if (place.strategy !== 'merge') return replaced(value, at)
    if (!Array.isArray(there)) return takenItems(value, at)
    if (this.#count(there.length + value.length)) await nextTurn()
    return place.mergeKey === undefined ? mergedValues(there, value, at) : await this.#items(place, place.mergeKey, there, value, at)
  }

  /** The objects of a list, by their merge key. */
  async #items (place: Place, mergeKey: string, there: readonly unknown[], patch: readonly unknown[], at: string): Promise<unknown[]> {
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
    if (replace) return changes.map(({ item, path }) => taken(item, path))

    const items = there.filter(item => !isObject(item) || !deleted.has(own(item, mergeKey)))
    const keys = keysOf(items, mergeKey, at)
    const order = positions(keys)
    const added = new Map<unknown, number>()
    for (const { key, item, path } of changes) {
      const index = order.get(key) ?? added.get(key)
      if (index === undefined) {
        added.set(key, items.length)
        items.push(taken(item, path))
        keys.push(key)
      } else items[index] = await this.object(place.members, items[index] as Plain, item, path) // it has a key
    }
    return arranged(items, keys, positions(changes.map(({ key }) => key)), order)
  }

  /** A list in the order a directive asks for; undefined where there is none. */
  #ordered ({ strategy, mergeKey }: Place, { before, patch, after, order }: { before: unknown, patch: unknown, after: unknown, order: readonly unknown[] }, at: string): unknown[] | undefined {
    if (strategy !== 'merge') throw malformed(at, '$setElementOrder is for lists that are merged, and this is none')
    if (patch !== undefined && !Array.isArray(patch)) throw malformed(at, 'what has a $setElementOrder must be a list')
    this.#count(order.length)
    const wanted = order.map(item => {
      if (mergeKey === undefined) return item
      if (!isObject(item) || !Object.hasOwn(item, mergeKey)) throw malformed(at, `each item of $setElementOrder must be an object with ${shown(mergeKey)}`)
      return item[mergeKey]
    })
    const directives = (patch ?? []).map((item, index) => isObject(item) ? directiveOf(item, `${at}[${index}]`) : undefined)
    const said = keysOf((patch ?? []).filter((_, index) => directives[index] === undefined), mergeKey, at)
    if (patch !== undefined) checkOrder(said, wanted, at)
    if (!Array.isArray(after)) return undefined
    this.#count(after.length)
    const keyIn = (item: unknown): unknown => mergeKey !== undefined && isObject(item) ? own(item, mergeKey) : item
    const deleted = new Set((patch ?? []).filter((_, index) => directives[index] === 'delete').map(keyIn))
    const there = placesBefore(Array.isArray(before) ? before.map(keyIn) : [], deleted, said)
    return arranged(after, keysOf(after, mergeKey, at), positions(wanted), there)
  }

  /** True when others should have their turn. @throws StatusError 413 */
  #count (steps: number): boolean {
    this.#steps += steps
    if (this.#steps > MOST_STEPS) throw tooLarge('the strategic merge patch takes too many steps, as it names the same items many times')
    return turnIsOver()
  }
}

/** A list as a whole. Whoever would delete from it must say what stays. */
function replaced (list: readonly unknown[], at: string): unknown[] {
  list.forEach((item, index) => {
    const path = `${at}[${index}]`
    if (isObject(item) && directiveOf(item, path) === 'delete') throw patchMismatch(path, 'this list is replaced as a whole, so $patch: delete says nothing')
  })
  return takenItems(list, at)
}

/** Each value once. */
function mergedValues (there: readonly unknown[], patch: readonly unknown[], at: string): unknown[] {
  const added = keysOf(patch, undefined, at)
  const all = [...new Set([...there, ...added])]
  return arranged(all, all, positions(added), positions(there))
}
