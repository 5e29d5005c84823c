/** Operators and functions on values. Undefined stands for an overload that does not exist. */
import { bounded, lengthOf, matches, methodOfString, partOfUrl, replace, urlOf } from './strings.js'
import type { Meter } from './meter.js'
import { durationOf, instant, partOfTime, span, textOfTime, TIME_METHODS, timestampOf } from './times.js'
import {
  compare, equals, Fault, identityOf, Instant, isDict, Items, kindOf, List, orFault, Span, TypeValue, Uint, type Value
} from './values.js'

type Values = readonly Value[]
export type Apply = (values: Values, meter: Meter) => Value | undefined

const int = (value: bigint): Value => BigInt.asIntN(64, value) === value ? value : new Fault('integer overflow')
const uint = (value: bigint): Value =>
  BigInt.asUintN(64, value) === value ? new Uint(value) : new Fault('unsigned integer overflow')

/** Arithmetic of two numbers of one type. */
const arithmetic = (
  ofInts: (left: bigint, right: bigint) => bigint | Fault, ofDoubles?: (left: number, right: number) => number
): Apply => ([left, right]) => {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checked(ofInts(left, right), int)
  if (left instanceof Uint && right instanceof Uint) return checked(ofInts(left.value, right.value), uint)
  return typeof left === 'number' && typeof right === 'number' ? ofDoubles?.(left, right) : undefined
}
const checked = (result: bigint | Fault, make: (value: bigint) => Value): Value =>
  result instanceof Fault ? result : make(result)

const ordered = (holds: (order: number) => boolean): Apply => ([left = null, right = null]) => {
  const order = compare(left, right)
  return order === undefined ? undefined : holds(order)
}

const addNumbers = arithmetic((left, right) => left + right, (left, right) => left + right)
const subtractNumbers = arithmetic((left, right) => left - right, (left, right) => left - right)

const add: Apply = (values, meter) => {
  const [left, right] = values
  if (typeof left === 'string' && typeof right === 'string') {
    bounded(left.length + right.length)
    return left + right
  }
  if (left instanceof Items && right instanceof Items) return joinedLists(left, right, meter)
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    bounded(left.length + right.length)
    return Buffer.concat([left, right])
  }
  if (left instanceof Span && right instanceof Span) return span(left.nanoseconds + right.nanoseconds)
  if (left instanceof Instant && right instanceof Span) return instant(left.nanoseconds + right.nanoseconds)
  if (left instanceof Span && right instanceof Instant) return instant(left.nanoseconds + right.nanoseconds)
  return addNumbers(values, meter)
}

const subtract: Apply = (values, meter) => {
  const [left, right] = values
  if (left instanceof Instant && right instanceof Instant) return span(left.nanoseconds - right.nanoseconds)
  if (left instanceof Instant && right instanceof Span) return instant(left.nanoseconds - right.nanoseconds)
  if (left instanceof Span && right instanceof Span) return span(left.nanoseconds - right.nanoseconds)
  return subtractNumbers(values, meter)
}

/** Items of sets are added once; items with the same keys are replaced where they are. */
function joinedLists (left: Items, right: Items, meter: Meter): Value {
  const { identity } = left
  meter.spend(Math.ceil((left.items.length + right.items.length) / 10)) // they are copied
  if (identity === undefined) return new List(left.items.concat(right.items))
  const merged = new Map(left.items.map(item => [identityOf(item, identity), item]))
  for (const item of right.items) merged.set(identityOf(item, identity), item)
  return new List([...merged.values()], identity)
}

const isIn: Apply = ([item = null, container], meter) => {
  if (container instanceof Items) return container.items.some(element => equals(element, item, meter))
  if (typeof container !== 'object' || container === null || !isDict(container)) return undefined
  const key = item instanceof Uint ? item.value : item
  return (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') &&
    container.get(key) !== undefined
}

const at: Apply = ([container, index = null]) => {
  const key = index instanceof Uint
    ? index.value
    : typeof index === 'number' && Number.isInteger(index)
      ? BigInt(index)
      : index
  if (container instanceof Items) {
    if (typeof key !== 'bigint') return undefined
    return orFault(container.at(Number(key)), `index out of bounds: ${key}`)
  }
  if (typeof container !== 'object' || container === null || !isDict(container)) return undefined
  return orFault(typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean'
    ? container.get(key)
    : undefined, `no such key: ${String(key)}`)
}

const size: Apply = ([value], meter) => {
  if (typeof value === 'string') {
    meter.spend(Math.floor(value.length / 1000))
    return BigInt(lengthOf(value))
  }
  if (value instanceof Items) return BigInt(value.size)
  if (value instanceof Uint8Array) return BigInt(value.length)
  return typeof value === 'object' && value !== null && isDict(value) ? BigInt(value.size) : undefined
}

const MAX_DIGITS = 40
const digits = (text: string): bigint | undefined =>
  text.length < MAX_DIGITS && /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : undefined

/** To an integer of either type. */
const integer = (make: (value: bigint) => Value): Apply => ([value]) => {
  if (typeof value === 'bigint') return make(value)
  if (value instanceof Uint) return make(value.value)
  if (typeof value === 'number') {
    return Number.isFinite(value) ? make(BigInt(Math.trunc(value))) : new Fault('integer overflow')
  }
  if (value instanceof Instant) return make(value.nanoseconds / 1_000_000_000n)
  if (value instanceof Span) return make(value.nanoseconds)
  if (typeof value !== 'string') return undefined
  const read = digits(value)
  return read === undefined
    ? new Fault(`strconv: parsing ${JSON.stringify(value.slice(0, MAX_DIGITS))}: invalid syntax`)
    : make(read)
}

const double: Apply = ([value]) => {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  if (value instanceof Uint) return Number(value.value)
  if (typeof value !== 'string') return undefined
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value)
    ? Number(value)
    : new Fault(`strconv.ParseFloat: parsing ${JSON.stringify(value.slice(0, MAX_DIGITS))}: invalid syntax`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const string: Apply = ([value]) => {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? String(value)
        .replace(/e([+-])(\d)$/, 'e$10$2')
      : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  }
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Instant || value instanceof Span) return textOfTime(value)
  if (value instanceof URL) return value.href
  if (!(value instanceof Uint8Array)) return undefined
  try {
    return utf8.decode(value)
  } catch {
    return new Fault('invalid UTF-8 in bytes, cannot convert to string')
  }
}

const BOOLS: Readonly<Record<string, boolean>> = Object
  .assign(
    Object.create(null),
    Object.fromEntries([
      ['1', 't', 'true', 'TRUE', 'True'], ['0', 'f', 'false', 'FALSE', 'False']
    ].flatMap((texts, no) =>
      texts.map(text => [text, no === 0])))
  )

/** The smallest item, or with `sign` -1 the largest. */
const extreme = (sign: number): Apply => ([list]) => {
  if (!(list instanceof Items)) return undefined
  const [first, ...others] = list.items
  if (first === undefined) return new Fault(`${sign === 1 ? 'min' : 'max'} called on empty list`)
  let best = first
  for (const item of others) {
    const order = compare(item, best)
    if (order === undefined) return undefined
    if (order * sign < 0) best = item
  }
  return best
}

const isSorted: Apply = ([list]) => list instanceof Items
  ? list.items.every((item, index) => index === 0 || (compare(list.items[index - 1] ?? null, item) ?? 1) <= 0)
  : undefined

/** As upstream, the sum of nothing is an integer. */
const sum: Apply = ([list], meter) => {
  if (!(list instanceof Items)) return undefined
  let total: Value | undefined
  for (const item of list.items) {
    total = total === undefined ? item : add([total, item], meter)
    if (total === undefined || total instanceof Fault) return total
  }
  return total ?? 0n
}

const join: Apply = ([list, by = '']) => {
  if (!(list instanceof Items) || typeof by !== 'string' || !list.items.every(item => typeof item === 'string')) {
    return undefined
  }
  bounded(list.items.reduce((length, item) => length + item.length + by.length, 0))
  return list.items.join(by)
}

const positionOf = (last: boolean): Apply => (values, meter) => {
  const [list, item = null] = values
  const name = last ? '.lastIndexOf' : '.indexOf'
  if (typeof list === 'string') return methodOfString(name, list, values, meter)
  if (!(list instanceof Items)) return undefined
  const same = (element: Value): boolean => equals(element, item, meter)
  return BigInt(last ? list.items.findLastIndex(same) : list.items.findIndex(same))
}

const STRING_METHODS = [
  '.contains', '.startsWith', '.endsWith', '.matches', '.charAt', '.lowerAscii', '.upperAscii', '.trim', '.split',
  '.substring', '.find', '.findAll'
]
const URL_METHODS = ['.getScheme', '.getHost', '.getHostname', '.getPort', '.getEscapedPath', '.getQuery']
/** Finding the time of a zone takes some microseconds. */
const COST_OF_ZONE = 20
const byZero = (what: string): Fault => new Fault(what)

/** By the name of an operator or function; methods have a dot. */
export const functions: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['==', ([left = null, right = null], meter) => equals(left, right, meter)],
  ['!=', ([left = null, right = null], meter) => !equals(left, right, meter)],
  ['<', ordered(order => order < 0)], ['<=', ordered(order => order <= 0)], ['>', ordered(order => order > 0)], [
    '>=', ordered(order => order >= 0)
  ],
  ['+', add], ['-', subtract],
  ['*', arithmetic((left, right) => left * right, (left, right) => left * right)],
  ['/', arithmetic((left, right) =>
    right === 0n ? byZero('division by zero') : left / right, (left, right) => left / right)],
  ['%', arithmetic((left, right) => right === 0n ? byZero('modulus by zero') : left % right)],
  ['!_', ([value]) => typeof value === 'boolean' ? !value : undefined],
  ['-_', ([value]) => typeof value === 'bigint' ? int(-value) : typeof value === 'number' ? -value : undefined],
  ['in', isIn], ['[]', at], ['size', size], ['.size', size],
  ['type', ([value = null]) => new TypeValue(kindOf(value))], ['dyn', ([value]) => value],
  ['int', integer(int)], ['uint', integer(uint)], ['double', double], ['string', string],
  ['bytes', ([value]) =>
    typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : undefined],
  ['bool', ([value]) =>
    typeof value === 'string'
      ? BOOLS[value] ??
        new Fault(`strconv.ParseBool: parsing ${JSON.stringify(value.slice(0, MAX_DIGITS))}: invalid syntax`)
      : typeof value === 'boolean'
        ? value
        : undefined],
  ['timestamp', ([value = null]) => timestampOf(value)], ['duration', ([value = null]) => durationOf(value)],
  ['matches', ([text, pattern], meter) =>
    typeof text === 'string' && typeof pattern === 'string' ? matches(text, pattern, meter) : undefined],
  ['url', ([text]) => typeof text === 'string'
    ? urlOf(text) ?? new Fault(`URL parse error during conversion from string: ${JSON.stringify(text.slice(0, 100))}`)
    : undefined],
  ['isURL', ([text]) => typeof text === 'string' ? urlOf(text) !== undefined : undefined],
  ['.isSorted', isSorted], ['.sum', sum], ['.min', extreme(1)], ['.max', extreme(-1)], ['.join', join],
  ['.indexOf', positionOf(false)], ['.lastIndexOf', positionOf(true)],
  ['.replace', ([text, from, to, times]) => typeof text === 'string' ? replace(text, from, to, times) : undefined],
  ...TIME_METHODS.map((name): [string, Apply] => [`.${name}`, ([of = null, zone], meter) => {
    if (zone !== undefined) meter.spend(COST_OF_ZONE)
    return partOfTime(name, of, zone)
  }]),
  ...URL_METHODS.map((name): [string, Apply] =>
    [name, ([url]) => url instanceof URL ? partOfUrl(name, url) : undefined]),
  ...STRING_METHODS.map((name): [string, Apply] => [name, (values, meter) =>
    typeof values[0] === 'string' ? methodOfString(name, values[0], values, meter) : undefined])
])
