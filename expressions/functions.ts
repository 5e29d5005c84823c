/** Operators and functions on values. */
import { ofAuthorizers } from './authorizer.js'
import { keyOf } from './folds.js'
import { format, quote } from './formatting.js'
import { boundedList, ofLists, positionIn } from './lists.js'
import type { Meter } from './meter.js'
import { ofFormats } from './named-formats.js'
import { Address, Network, ofNets } from './nets.js'
import { ofOptionals } from './optionals.js'
import { ofQuantities } from './quantities.js'
import { bounded, matches, methodOfString, partOfUrl, replace, urlOf } from './strings.js'
import { durationOf, instant, partOfTime, span, textOfTime, TIME_METHODS, timestampOf } from './times.js'
import {
  compare, equals, Fault, identityOf, Instant, isDict, Items, kindOf, lengthOf, List, Optional, orFault, Span,
  TypeValue, Uint, type Apply, type Value
} from './values.js'

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
  if (identity === undefined) return boundedList(left.items.concat(right.items), meter)
  const merged = new Map(left.items.map(item => [identityOf(item, identity), item]))
  for (const item of right.items) merged.set(identityOf(item, identity), item)
  return new List([...merged.values()], identity)
}

const isIn: Apply = ([item = null, container], meter) => {
  if (container instanceof Items) return container.items.some(element => equals(element, item, meter))
  if (typeof container !== 'object' || container === null || !isDict(container)) return undefined
  const key = keyOf(item)
  return key !== undefined && container.get(key) !== undefined
}

/** The item or member of a container; undefined if it has none. */
function found (container: Value, index: Value): Value | undefined {
  if (typeof container !== 'object' || container === null) return new Fault('no such overload')
  const key = typeof index === 'number' && Number.isInteger(index) ? BigInt(index) : keyOf(index)
  if (container instanceof Items) {
    return typeof key === 'bigint' ? container.at(Number(key)) : new Fault('no such overload')
  }
  if (!isDict(container)) return new Fault('no such overload')
  return key === undefined ? undefined : container.get(key)
}

const at: Apply = ([container = null, index = null]) => container instanceof Optional
  ? optionalAt([container, index])
  : orFault(
    found(container, index),
    container instanceof Items ? `index out of bounds: ${shown(index)}` : `no such key: ${shown(index)}`
  )

function optionalAt ([container = null, index = null]: readonly Value[]): Value {
  const inner = container instanceof Optional ? container.value : container
  const value = inner === undefined ? undefined : found(inner, index)
  return value instanceof Fault ? value : new Optional(value)
}
const shown = (index: Value): string => index instanceof Uint ? String(index.value) : String(index)

const size: Apply = ([value], meter) => {
  if (typeof value === 'string') {
    meter.work(value.length / 1000)
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
    // As upstream, the smallest integer is no double.
    const isWithin = Number.isFinite(value) && value > -(2 ** 63)
    return isWithin ? make(BigInt(Math.trunc(value))) : new Fault('integer overflow')
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
  const [, sign, special] = /^([+-]?)(nan|inf|infinity)$/i.exec(value) ?? []
  if (special !== undefined) return special.toLowerCase() === 'nan' ? NaN : sign === '-' ? -Infinity : Infinity
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
  if (value instanceof Address || value instanceof Network) return String(value)
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
  return positionIn(list, item, last, meter)
}

const STRING_METHODS = [
  '.contains', '.startsWith', '.endsWith', '.matches', '.charAt', '.lowerAscii', '.upperAscii', '.trim', '.split',
  '.substring', '.find', '.findAll'
]
const URL_METHODS = ['.getScheme', '.getHost', '.getHostname', '.getPort', '.getEscapedPath', '.getQuery']
/** Finding the time of a zone takes some microseconds. */
const COST_OF_ZONE = 20
const byZero = (what: string): Fault => new Fault(what)

/** Upstream charges for the template, however long the text is. @throws CostExceeded for one that is too long */
function bounding (value: Value, meter: Meter): Value {
  if (typeof value === 'string') {
    bounded(value.length)
    meter.work(value.length / 2)
  }
  return value
}

/** By the name of an operator or function; methods have a dot. */
export const functions: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['_==_', ([left = null, right = null], meter) => equals(left, right, meter)],
  ['_!=_', ([left = null, right = null], meter) => !equals(left, right, meter)],
  ['_<_', ordered(order => order < 0)], ['_<=_', ordered(order => order <= 0)], ['_>_', ordered(order => order > 0)],
  ['_>=_', ordered(order => order >= 0)],
  ['_+_', add], ['_-_', subtract],
  ['_*_', arithmetic((left, right) => left * right, (left, right) => left * right)],
  ['_/_', arithmetic((left, right) =>
    right === 0n ? byZero('division by zero') : left / right, (left, right) => left / right)],
  ['_%_', arithmetic((left, right) => right === 0n ? byZero('modulus by zero') : left % right)],
  ['!_', ([value]) => typeof value === 'boolean' ? !value : undefined],
  ['-_', ([value]) => typeof value === 'bigint' ? int(-value) : typeof value === 'number' ? -value : undefined],
  ['@in', isIn], ['_[_]', at], ['_[?_]', optionalAt],
  ['_?._', ([of = null, field = null]) => optionalAt([of, field])], ['size', size], ['.size', size],
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
  ['.sum', sum], ['.join', join],
  ['.format', ([template, args], meter) => typeof template === 'string' && args instanceof Items
    ? bounding(format(template, args.items, value => string([value], meter)), meter)
    : undefined],
  ['strings.quote', ([text]) => typeof text === 'string' ? quote(text) : undefined],
  ['jsonpatch.escapeKey', ([text]) =>
    typeof text === 'string' ? text.replaceAll('~', '~0').replaceAll('/', '~1') : undefined],
  ['.includes', ([of = null, item = null], meter) =>
    of instanceof Items ? isIn([item, of], meter) : equals(of, item, meter)],
  ['.indexOf', positionOf(false)], ['.lastIndexOf', positionOf(true)],
  ['.replace', ([text, from, to, times]) => typeof text === 'string' ? replace(text, from, to, times) : undefined],
  ...TIME_METHODS.map((name): [string, Apply] => [`.${name}`, ([of = null, zone], meter) => {
    if (zone !== undefined) meter.spend(COST_OF_ZONE)
    return partOfTime(name, of, zone)
  }]),
  ...URL_METHODS.map((name): [string, Apply] =>
    [name, ([url]) => url instanceof URL ? partOfUrl(name, url) : undefined]),
  ...STRING_METHODS.map((name): [string, Apply] => [name, (values, meter) =>
    typeof values[0] === 'string' ? methodOfString(name, values[0], values, meter) : undefined]),
  ...ofLists, ...ofOptionals, ...ofNets, ...ofQuantities, ...ofFormats, ...ofAuthorizers
])
