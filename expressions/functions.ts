/** Operators and functions on values. */
import { ofAuthorizers } from './authorizer.js'
import { alike, equals } from './equality.js'
import { keyOf } from './folds.js'
import { format, quote } from './formatting.js'
import { includes, joined, ofLists, positionIn, sum } from './lists.js'
import type { Meter } from './meter.js'
import { ofFormats } from './named-formats.js'
import { Address, Network, ofNets } from './nets.js'
import { ofOptionals } from './optionals.js'
import { Pending, started } from './pending.js'
import { ofQuantities } from './quantities.js'
import { matches, ofStrings, partOfUrl, placeIn, urlOf } from './strings.js'
import { bounded } from './text.js'
import { durationOf, instant, partOfTime, span, textOfTime, TIME_METHODS, timestampOf } from './times.js'
import {
  compare, Fault, Instant, isDict, Items, kindOf, lengthOf, Optional, orFault, Span, TypeValue, Uint, type Apply,
  type Value
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
  if (left instanceof Items && right instanceof Items) return joined(left, right, meter)
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

const isIn: Apply = ([item = null, container], meter) => {
  if (container instanceof Items) return started(includes(container, item, meter))
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

const size: Apply = ([value]) => {
  if (typeof value === 'string') return BigInt(lengthOf(value))
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

/** The text of a value that `string` converts. */
function plain (value: Value | undefined): Value | undefined {
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
const string: Apply = ([value]) => plain(value)

const BOOLS: Readonly<Record<string, boolean>> = Object
  .assign(
    Object.create(null),
    Object.fromEntries([
      ['1', 't', 'true', 'TRUE', 'True'], ['0', 'f', 'false', 'FALSE', 'False']
    ].flatMap((texts, no) =>
      texts.map(text => [text, no === 0])))
  )

const positionOf = (last: boolean): Apply => (values, meter) => {
  const [of, item = null] = values
  if (typeof of === 'string') return placeIn(of, values, last, meter)
  return of instanceof Items ? positionIn(of, item, last, meter) : undefined
}

const URL_METHODS = ['.getScheme', '.getHost', '.getHostname', '.getPort', '.getEscapedPath', '.getQuery']
/** Finding the time of a zone takes some microseconds. */
const COST_OF_ZONE = 20
const byZero = (what: string): Fault => new Fault(what)

const same = ([left = null, right = null]: readonly Value[], meter: Meter): boolean | Pending<boolean> =>
  alike(left, right) ?? started(equals(left, right, meter))

/** By the name of an operator or function; methods have a dot. */
export const functions: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['_==_', same], ['_!=_', (values, meter) => {
    const equal = same(values, meter)
    return equal instanceof Pending ? equal.into(is => !is) : !equal
  }],
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
  ['.sum', sum(add)],
  ['.format', ([template, args], meter) => typeof template === 'string' && args instanceof Items
    ? started(format(template, args, plain, meter))
    : undefined],
  ['strings.quote', ([text], meter) => typeof text === 'string' ? started(quote(text, meter)) : undefined],
  ['jsonpatch.escapeKey', ([text]) =>
    typeof text === 'string' ? text.replaceAll('~', '~0').replaceAll('/', '~1') : undefined],
  ['.includes', ([of = null, item = null], meter) =>
    of instanceof Items ? isIn([item, of], meter) : same([of, item], meter)],
  ['.indexOf', positionOf(false)], ['.lastIndexOf', positionOf(true)],
  ...TIME_METHODS.map((name): [string, Apply] => [`.${name}`, ([of = null, zone], meter) => {
    if (zone !== undefined) meter.spend(COST_OF_ZONE)
    return partOfTime(name, of, zone)
  }]),
  ...URL_METHODS.map((name): [string, Apply] =>
    [name, ([url]) => url instanceof URL ? partOfUrl(name, url) : undefined]),
  ...ofStrings, ...ofLists, ...ofOptionals, ...ofNets, ...ofQuantities, ...ofFormats, ...ofAuthorizers
])
