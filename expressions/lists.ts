/** Functions of lists and sets. */
import { CostExceeded, type Meter } from './meter.js'
import { compare, equals, Fault, Items, List, text, type Apply, type Library, type Value } from './values.js'

/** Maximum items of the lists that expressions create. */
const MAX_ITEMS = 1_000_000
/** @throws CostExceeded */
export function boundedList (items: readonly Value[], meter: Meter): Value {
  if (items.length > MAX_ITEMS) throw new CostExceeded()
  meter.work(items.length / 2)
  return new List(items)
}

const ofList = (apply: (list: Items, rest: readonly Value[], meter: Meter) => Value | undefined): Apply =>
  ([list, ...rest], meter) => list instanceof Items ? apply(list, rest, meter) : undefined

/** The smallest item, or with `sign` -1 the largest. */
const extreme = (sign: number): Apply => ofList(({ items: [first, ...others] }) => {
  if (first === undefined) return new Fault(`${sign === 1 ? 'min' : 'max'} called on empty list`)
  let best = first
  for (const item of others) {
    const order = compare(item, best)
    if (order === undefined) return undefined
    if (order * sign < 0) best = item
  }
  return best
})

const isSorted: Apply = ofList(({ items }) =>
  items.every((item, index) => index === 0 || (compare(items[index - 1] ?? null, item) ?? 1) <= 0))

/** What costs the square of this is above every limit, so it is not done first. */
const MAX_SQUARED = 1000
/** @throws CostExceeded */
function affordable (items: readonly Value[]): void {
  if (items.length > MAX_SQUARED) throw new CostExceeded()
}

/** Stable, as upstream's. @param keys one for each item @throws CostExceeded */
function sorted (items: readonly Value[], keys: readonly Value[]): Value | undefined {
  affordable(items)
  let isOrdered = true
  const order = keys.map((_, index) => index).sort((left, right) => {
    const by = compare(keys[left] ?? null, keys[right] ?? null)
    isOrdered &&= by !== undefined
    return by ?? 0
  })
  return isOrdered ? new List(order.map(index => items[index] ?? null)) : new Fault('list elements must be comparable')
}

function slice ({ items }: Items, [from, to]: readonly Value[]): Value | undefined {
  if (typeof from !== 'bigint' || typeof to !== 'bigint') return undefined
  const range = `cannot slice(${from}, ${to})`
  if (from < 0n || to < 0n) return new Fault(`${range}, negative indexes not supported`)
  if (from > to) return new Fault(`${range}, start index must be less than or equal to end index`)
  if (to > BigInt(items.length)) return new Fault(`${range}, list is length ${items.length}`)
  return new List(items.slice(Number(from), Number(to)))
}

function flat ({ items }: Items, depth: number): Value[] {
  return items.flatMap(item => item instanceof Items && depth > 0 ? flat(item, depth - 1) : [item])
}

function distinct ({ items }: Items): Value {
  affordable(items)
  const known = new Map<string, Value>()
  for (const item of items) if (!known.has(text(item))) known.set(text(item), item)
  return new List([...known.values()])
}

const overlap = (holds: (one: Set<string>, other: Set<string>) => boolean): Apply => ([one, other]) =>
  one instanceof Items && other instanceof Items
    ? holds(new Set(one.items.map(text)), new Set(other.items.map(text)))
    : undefined
const contains = (one: Set<string>, other: Set<string>): boolean => [...other].every(item => one.has(item))

/** The position of an item. */
export const positionIn = (list: Items, item: Value, last: boolean, meter: Meter): Value => {
  const same = (element: Value): boolean => equals(element, item, meter)
  return BigInt(last ? list.items.findLastIndex(same) : list.items.findIndex(same))
}

export const ofLists: Library = [
  ['.isSorted', isSorted], ['.min', extreme(1)], ['.max', extreme(-1)],
  ['.sort', ofList(({ items }) => sorted(items, items))],
  ['.@sortByAssociatedKeys', ofList(({ items }, [keys]) =>
    keys instanceof Items ? sorted(items, keys.items) : undefined)],
  ['.slice', ofList(slice)], ['.reverse', ofList(({ items }) => new List([...items].reverse()))],
  ['.distinct', ofList(distinct)],
  ['.flatten', ofList((list, [depth = 1n], meter) => typeof depth !== 'bigint'
    ? undefined
    : depth < 0n
      ? new Fault('level must be non-negative')
      : boundedList(flat(list, Math.min(Number(depth), 100)), meter))],
  ['lists.range', ([size], meter) => {
    if (typeof size !== 'bigint') return undefined
    if (size > BigInt(MAX_ITEMS)) throw new CostExceeded()
    const items: bigint[] = []
    for (let next = 0n; next < size; next++) items.push(next)
    return boundedList(items, meter)
  }],
  ['sets.contains', overlap(contains)],
  ['sets.intersects', overlap((one, other) => [...other].some(item => one.has(item)))],
  ['sets.equivalent', overlap((one, other) => contains(one, other) && contains(other, one))]
]
