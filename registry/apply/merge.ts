/** Putting what is applied into what is there, and taking fields out of it. Both change the object they are given. */
import { setMember } from '../../schemas/language/values.js'
import { EMPTY, below, isMember } from './field-set.js'
import type { FieldSet } from './field-set.js'
import { isObject, itemsOf, memberOf, membersOf } from './shape.js'
import type { Shape } from './shape.js'

/** How lists are merged. */
export interface Order {
  /** What was there stays where it was. Else what is applied stands in the order in which it is applied, and the rest of what was there around it. */
  readonly ofLive: boolean
  /** Set when items have changed places. */
  moved: boolean
}

/** `live` with everything `config` says. Null takes no parts out of what has some. */
export function merge (shape: Shape, live: unknown, config: unknown, order: Order = { ofLive: true, moved: false }): unknown {
  if (config === null && shape.kind !== 'leaf' && typeof live === 'object') return live
  switch (shape.kind) {
    case 'leaf': return config
    case 'items':
    case 'set': return Array.isArray(live) && Array.isArray(config) ? mergeItems(shape, live, config, order) : config
    default: return isObject(live) && isObject(config) ? mergeMembers(shape, live, config, order) : config
  }
}

function mergeMembers (shape: Shape, live: Record<string, unknown>, config: Record<string, unknown>, order: Order): unknown {
  for (const name of Object.keys(config)) {
    const field = shape.kind === 'entries' ? shape.item : shape.field(name)
    const there = memberOf(live, name)
    setMember(live, name, field === undefined || there === undefined ? config[name] : merge(field, there, config[name], order))
  }
  return live
}

/** One item that is applied takes the place of all that have its keys: nobody can say which of them it was merged with. */
function mergeItems (shape: Shape, live: readonly unknown[], config: readonly unknown[], order: Order): unknown[] {
  const wanted = new Map(config.map(item => [shape.elementOf(item), item]))
  const shared = new Map<string, unknown>()
  const there: Array<[element: string, item: unknown]> = []
  for (const item of live) {
    const element = shape.elementOf(item)
    const mine = wanted.get(element)
    const isTwin = shared.has(element)
    if (!isTwin) there.push([element, item])
    if (mine !== undefined) shared.set(element, isTwin ? mine : merge(shape.item, item, mine, order))
  }
  return arranged(there, shared, wanted, order)
}

/**
 * The items that were there, and those that are wanted. In the order of these, what was not wanted goes before what it stood
 * before, as far as that comes in the same order as it did.
 * @param shared what is in both, merged
 */
function arranged (there: ReadonlyArray<[element: string, item: unknown]>, shared: ReadonlyMap<string, unknown>, wanted: ReadonlyMap<string, unknown>, order: Order): unknown[] {
  const made: unknown[] = []
  const left = [...wanted.keys()].filter(element => !order.ofLive || !shared.has(element))
  const turns = left.filter(element => shared.has(element))
  let [taken, turn] = [0, 0]
  const take = (element: string): void => { made.push(shared.has(element) ? shared.get(element) : wanted.get(element)) }
  for (const [element, item] of there) {
    if (!shared.has(element)) made.push(item)
    else if (order.ofLive) take(element)
    else if (element !== turns[turn]) order.moved = true
    else {
      turn++
      while (left[taken] !== element) take(left[taken++] as string) // it is among them
      take(left[taken++] as string) // likewise
    }
  }
  left.slice(taken).forEach(take)
  return made
}

/** Takes the fields of the set out, and leaves what held them. */
export function remove (shape: Shape, value: unknown, fields: FieldSet): unknown {
  if (shape.kind === 'items' || shape.kind === 'set') return Array.isArray(value) ? removeItems(shape, value, fields) : value
  if (shape.kind === 'leaf' || !isObject(value)) return value
  for (const element of below(fields)) {
    const [name, part] = [element.slice(2), fields[element] ?? EMPTY]
    const [field, there] = [shape.kind === 'entries' ? shape.item : shape.field(name), memberOf(value, name)]
    if (field === undefined || there === undefined) continue
    if (isMember(part)) Reflect.deleteProperty(value, name)
    else setMember(value, name, remove(field, there, part))
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

/** Only the fields of the set, and what holds them; shares its parts with the object. */
export function extract (shape: Shape, value: unknown, fields: FieldSet): unknown {
  if (isMember(fields) && below(fields).length === 0) return value
  if (shape.kind === 'items' || shape.kind === 'set') {
    return itemsOf(value).flatMap(item => {
      const part = fields[shape.elementOf(item)]
      if (part !== undefined && shape.kind === 'set') return [item]
      return part === undefined ? [] : [{ ...Object.fromEntries(shape.keys.map(name => [name, shape.keyOf(item, name)])), ...extract(shape.item, item, part) as object }]
    })
  }
  const made: Record<string, unknown> = {}
  for (const element of below(fields)) {
    const name = element.slice(2)
    const [field, there] = [shape.kind === 'entries' ? shape.item : shape.field(name), memberOf(membersOf(value), name)]
    if (field !== undefined && there !== undefined) setMember(made, name, extract(field, there, fields[element] ?? EMPTY))
  }
  return made
}
