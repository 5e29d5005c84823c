/** Merges applied configurations into live objects, and removes fields from them. All functions change their input. */
import { setMember, isObject } from '../../schemas/language/values.js'
import { childElements, EMPTY, isMember, type FieldSet } from './field-set.js'
import { membersOf, memberOf, itemsOf, type Shape } from './shape.js'

/** How to merge lists. */
export interface Order {
  /** True to keep the live order. False to use the order of the configuration, with the other live items around it. */
  readonly ofLive: boolean
  /** Set when the merge changed the order of live items. */
  moved: boolean
}

/** Merges `config` into `live`. A null leaves existing contents in place. */
export function merge (
  shape: Shape, live: unknown, config: unknown, order: Order = { ofLive: true, moved: false }
): unknown {
  if (config === null && shape.kind !== 'leaf' && typeof live === 'object') return live
  switch (shape.kind) {
    case 'leaf': return config
    case 'items':
    case 'set': return Array.isArray(live) && Array.isArray(config) ? mergeItems(shape, live, config, order) : config
    default: return isObject(live) && isObject(config) ? mergeMembers(shape, live, config, order) : config
  }
}

function mergeMembers (
  shape: Shape, live: Record<string, unknown>, config: Record<string, unknown>, order: Order
): unknown {
  for (const name of Object.keys(config)) {
    const field = shape.kind === 'entries' ? shape.item : shape.field(name)
    const existing = memberOf(live, name)
    setMember(live, name, field === undefined || existing === undefined
      ? config[name]
      : merge(field, existing, config[name], order))
  }
  return live
}

/** One applied item replaces all live items with the same keys, because these are indistinguishable. */
function mergeItems (shape: Shape, live: readonly unknown[], config: readonly unknown[], order: Order): unknown[] {
  const desired = new Map(config.map(item => [shape.elementOf(item), item]))
  const shared = new Map<string, unknown>()
  const existing: Array<[element: string, item: unknown]> = []
  for (const item of live) {
    const element = shape.elementOf(item)
    const mine = desired.get(element)
    const isTwin = shared.has(element)
    if (!isTwin) existing.push([element, item])
    if (mine !== undefined) shared.set(element, isTwin ? mine : merge(shape.item, item, mine, order))
  }
  return arrange(existing, shared, desired, order)
}

/**
 * Orders merged items. In the configuration's order, an unapplied item keeps its place before the shared item that
 * followed it, as far as the shared items keep their relative order.
 * @param shared items in both lists, merged
 */
function arrange (
  existing: ReadonlyArray<[element: string, item: unknown]>, shared: ReadonlyMap<string, unknown>,
  desired: ReadonlyMap<string, unknown>, order: Order
): unknown[] {
  const arranged: unknown[] = []
  const pending = [...desired.keys()].filter(element => !order.ofLive || !shared.has(element))
  const sharedOrder = pending.filter(element => shared.has(element))
  let [taken, nextShared] = [0, 0]
  const take = (element: string): void => {
    arranged.push(shared.has(element) ? shared.get(element) : desired.get(element))
  }
  for (const [element, item] of existing) {
    if (!shared.has(element)) arranged.push(item)
    else if (order.ofLive) take(element)
    else if (element !== sharedOrder[nextShared]) order.moved = true
    else {
      nextShared++
      while (pending[taken] !== element) take(pending[taken++] as string) // contained in `pending`
      take(pending[taken++] as string) // likewise
    }
  }
  pending.slice(taken).forEach(take)
  return arranged
}

/** Sets what the configuration applies as null to null, unless it has members: those are owned by others. */
export function applyNulls (shape: Shape, value: unknown, config: unknown): void {
  if (Array.isArray(config)) {
    if (shape.kind !== 'items' || !Array.isArray(value)) return
    const applied = new Map(config.map(item => [shape.elementOf(item), item as unknown]))
    for (const item of value) applyNulls(shape.item, item, applied.get(shape.elementOf(item)))
    return
  }
  if (shape.kind === 'leaf' || !isObject(value) || !isObject(config)) return
  for (const name of Object.keys(config)) {
    const [field, existing] = [shape.kind === 'entries' ? shape.item : shape.field(name), memberOf(value, name)]
    if (field === undefined || typeof existing !== 'object' || existing === null) continue
    if (config[name] !== null) applyNulls(field, existing, config[name])
    else if (Object.keys(existing).length === 0) setMember(value, name, null)
  }
}

/** Removes the fields of the set but keeps their containers. */
export function remove (shape: Shape, value: unknown, fields: FieldSet): unknown {
  if (shape.kind === 'items' || shape.kind === 'set') {
    return Array.isArray(value) ? removeItems(shape, value, fields) : value
  }
  if (shape.kind === 'leaf' || !isObject(value)) return value
  for (const element of childElements(fields)) {
    const [name, part] = [element.slice(2), fields[element] ?? EMPTY]
    const [field, existing] = [shape.kind === 'entries' ? shape.item : shape.field(name), memberOf(value, name)]
    if (field === undefined || existing === undefined) continue
    if (isMember(part)) Reflect.deleteProperty(value, name)
    else setMember(value, name, remove(field, existing, part))
  }
  return value
}

function removeItems (shape: Shape, items: readonly unknown[], fields: FieldSet): unknown {
  return items.flatMap(item => {
    const part = fields[shape.elementOf(item)]
    if (part === undefined) return [item]
    return isMember(part) ? [] : [remove(shape.item, item, part)]
  })
}

/** Only the fields of the set and their containers; shares parts with the object. */
export function extract (shape: Shape, value: unknown, fields: FieldSet): unknown {
  if (isMember(fields) && childElements(fields).length === 0) return value
  if (shape.kind === 'items' || shape.kind === 'set') {
    return itemsOf(value).flatMap(item => {
      const part = fields[shape.elementOf(item)]
      if (part !== undefined && shape.kind === 'set') return [item]
      return part === undefined
        ? []
        : [{
            ...Object.fromEntries(shape.keys.map(name =>
              [name, shape.keyOf(item, name)])), ...extract(shape.item, item, part) as object
          }]
    })
  }
  const extracted: Record<string, unknown> = {}
  for (const element of childElements(fields)) {
    const name = element.slice(2)
    const [field, existing] = [
      shape.kind === 'entries' ? shape.item : shape.field(name), memberOf(membersOf(value), name)
    ]
    if (field !== undefined && existing !== undefined) {
      setMember(extracted, name, extract(field, existing, fields[element] ?? EMPTY))
    }
  }
  return extracted
}
