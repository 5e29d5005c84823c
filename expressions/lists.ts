/** Functions of lists and sets. What visits the items yields in between, as there may be many. */
import type { Steps } from '../schemas/steps.js'
import { byIdentity, equals, plainly } from './equality.js'
import { CostExceeded, type Meter } from './meter.js'
import { started, type Pending } from './pending.js'
import { bounded, Text } from './text.js'
import { compare, Fault, Items, lengthOf, List, type Apply, type Library, type Value } from './values.js'

/** Maximum items of the lists that expressions create. */
const MAX_ITEMS = 1_000_000
/** @throws CostExceeded */
function boundedSize (size: number): void { if (size > MAX_ITEMS) throw new CostExceeded() }

/** Items of other lists, or numbers, that are made when they are read. */
class View extends Items {
  constructor (readonly size: number, readonly at: (index: number) => Value | undefined) { super() }
}

const itemOf = (list: Items, index: number): Value => list.at(index) ?? null

type OfList<T> = (list: Items, values: readonly Value[], meter: Meter) => T
const ofList = (apply: OfList<Value | undefined>): Apply => (values, meter) =>
  values[0] instanceof Items ? apply(values[0], values, meter) : undefined
/** Of functions that visit all items. */
const visiting = (steps: OfList<Steps<Value | undefined>>): Apply => (values, meter) =>
  values[0] instanceof Items ? started(steps(values[0], values, meter)) : undefined

/** Bytes count in tens. */
const weightOf = (item: Value): number => typeof item === 'string'
  ? Math.floor(Buffer.byteLength(item) / 10)
  : item instanceof Uint8Array ? Math.floor(item.length / 10) : 0

/** Upstream's cost of visiting all items, whether or not they are. @throws CostExceeded */
function * spend (list: Items, meter: Meter): Steps<void> {
  for (let index = 0; index < list.size; index++) {
    const item = itemOf(list, index)
    meter.spend(1 + weightOf(item))
    if (item instanceof Items) yield * spend(item, meter)
    if (meter.isDue) yield
  }
}

/** The smallest item, or with `sign` -1 the largest. */
const extreme = (sign: number): Apply => visiting(function * (list, _values, meter) {
  yield * spend(list, meter)
  let best = list.at(0)
  if (best === undefined) return new Fault(`${sign === 1 ? 'min' : 'max'} called on empty list`)
  for (let index = 1; index < list.size; index++) {
    if (meter.isDue) yield
    const order = compare(itemOf(list, index), best)
    if (order === undefined) return undefined
    if (order * sign < 0) best = itemOf(list, index)
    meter.work(1)
  }
  return best
})

const isSorted: Apply = visiting(function * (list, _values, meter) {
  yield * spend(list, meter)
  for (let index = 1; index < list.size; index++) {
    if (meter.isDue) yield
    if ((compare(itemOf(list, index - 1), itemOf(list, index)) ?? 1) > 0) return false
    meter.work(1)
  }
  return true
})

/** As upstream, the sum of nothing is an integer. */
export const sum = (add: Apply): Apply => visiting(function * (list, _values, meter) {
  yield * spend(list, meter)
  let total: Value = list.at(0) ?? 0n
  for (let index = 1; index < list.size; index++) {
    if (meter.isDue) yield
    const next = add([total, itemOf(list, index)], meter) as Value | undefined // of numbers
    if (next === undefined || next instanceof Fault) return next
    total = next
    meter.work(1)
  }
  return total
})

/** The first or last position of an item. */
export const positionIn = (list: Items, item: Value, last: boolean, meter: Meter): Value | Pending<Value> =>
  started(position(list, item, last, meter))

function * position (list: Items, item: Value, last: boolean, meter: Meter): Steps<Value> {
  yield * spend(list, meter)
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    const at = last ? list.size - 1 - index : index
    const candidate = itemOf(list, at)
    if (plainly(candidate, item, meter) ?? (yield * equals(candidate, item, meter))) return BigInt(at)
  }
  return -1n
}

export function * includes (list: Items, item: Value, meter: Meter): Steps<boolean> {
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    const candidate = itemOf(list, index)
    if (plainly(candidate, item, meter) ?? (yield * equals(candidate, item, meter))) return true
  }
  return false
}

/** Stable, as upstream's. The cost, which is above the square of the size, has been paid. @param keys of the items */
function sorted (list: Items, keys: Items): Value | undefined {
  let isOrdered = true
  const pairs: Array<readonly [Value, Value]> = []
  for (let index = 0; index < keys.size; index++) pairs.push([itemOf(keys, index), itemOf(list, index)])
  pairs.sort(([left], [right]) => {
    const by = compare(left, right)
    isOrdered &&= by !== undefined
    return by ?? 0
  })
  return isOrdered ? new List(pairs.map(([, item]) => item)) : new Fault('list elements must be comparable')
}

function slice (list: Items, [, from, to]: readonly Value[]): Value | undefined {
  if (typeof from !== 'bigint' || typeof to !== 'bigint') return undefined
  const range = `cannot slice(${from}, ${to})`
  if (from < 0n || to < 0n) return new Fault(`${range}, negative indexes not supported`)
  if (from > to) return new Fault(`${range}, start index must be less than or equal to end index`)
  if (to > BigInt(list.size)) return new Fault(`${range}, list is length ${list.size}`)
  const first = Number(from)
  return new View(Number(to) - first, index => index < 0 ? undefined : list.at(first + index))
}

const flatten: Apply = visiting(function * (list, [, depth = 1n], meter) {
  if (typeof depth !== 'bigint') return undefined
  if (depth < 0n) return new Fault('level must be non-negative')
  const items: Value[] = []
  yield * flat(list, Math.min(Number(depth), 100), items, meter)
  return new List(items)
})

function * flat (list: Items, depth: number, into: Value[], meter: Meter): Steps<void> {
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    meter.work(1)
    const item = itemOf(list, index)
    if (item instanceof Items && depth > 0) yield * flat(item, depth - 1, into, meter)
    else boundedSize(into.push(item))
  }
}

const distinct: Apply = visiting(function * (list, _values, meter) {
  const known: Value[] = []
  const all = new List(known)
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    const item = itemOf(list, index)
    if (!(yield * includes(all, item, meter))) known.push(item)
  }
  return all
})

/** Items of sets are added once; items with the same keys are replaced where they are. @throws CostExceeded */
export function joined (left: Items, right: Items, meter: Meter): Value | Pending<Value> {
  const { identity } = left
  if (identity !== undefined) return started(merged(left, right, identity, meter))
  const size = left.size + right.size
  boundedSize(size)
  return new View(size, index => index < left.size ? left.at(index) : right.at(index - left.size))
}

function * merged (left: Items, right: Items, identity: 'set' | readonly string[], meter: Meter): Steps<Value> {
  const known = yield * byIdentity(left, identity, meter)
  return new List([...(yield * byIdentity(right, identity, meter, known)).values()], identity)
}

/** Whether the list has each item. The cost, which is above the product of the sizes, has been paid. */
function * containsAll (list: Items, items: Items, meter: Meter): Steps<boolean> {
  for (let index = 0; index < items.size; index++) {
    if (!(yield * includes(list, itemOf(items, index), meter))) return false
  }
  return true
}

const ofSets = (steps: (one: Items, other: Items, meter: Meter) => Steps<boolean>): Apply =>
  visiting(function * (one, [, other = null], meter) {
    return other instanceof Items ? yield * steps(one, other, meter) : undefined
  })

const join: Apply = visiting(function * (list, [, by = ''], meter) {
  if (typeof by !== 'string') return undefined
  let [units, points] = [0, 0]
  const between = lengthOf(by)
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    const item = itemOf(list, index)
    if (typeof item !== 'string') return undefined
    meter.work(1)
    units += item.length + (index === 0 ? 0 : by.length)
    points += lengthOf(item) + (index === 0 ? 0 : between)
    bounded(units)
  }
  meter.spend(Math.ceil(points / 5))
  const text = new Text()
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    meter.work(1)
    text.add(`${index === 0 ? '' : by}${String(itemOf(list, index))}`)
  }
  return text.toString()
})

export const ofLists: Library = [
  ['.join', join], ['.isSorted', isSorted], ['.min', extreme(1)], ['.max', extreme(-1)],
  ['.sort', ofList(list => sorted(list, list))],
  ['.@sortByAssociatedKeys', ofList((list, [, keys]) => keys instanceof Items ? sorted(list, keys) : undefined)],
  ['.slice', ofList(slice)],
  ['.reverse', ofList(list => new View(list.size, index => list.at(list.size - 1 - index)))],
  ['.distinct', distinct], ['.flatten', flatten],
  ['lists.range', ([size]) => {
    if (typeof size !== 'bigint') return undefined
    const count = Math.max(0, Number(size))
    boundedSize(count)
    return new View(count, index => index >= 0 && index < count ? BigInt(index) : undefined)
  }],
  ['sets.contains', ofSets(containsAll)],
  ['sets.intersects', ofSets(function * (one, other, meter) {
    for (let index = 0; index < other.size; index++) {
      if (yield * includes(one, itemOf(other, index), meter)) return true
    }
    return false
  })],
  ['sets.equivalent', ofSets(function * (one, other, meter) {
    return (yield * containsAll(one, other, meter)) && (yield * containsAll(other, one, meter))
  })]
]
