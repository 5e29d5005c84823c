/** String functions. Positions are code points. */
import { ObjectPatterns, type ObjectExpression, type Visited } from '../schemas/api/apiextensions/patterns.js'
import type { Steps } from '../schemas/steps.js'
import { CostExceeded, type Meter } from './meter.js'
import { started, type Pending } from './pending.js'
import { Search } from './search.js'
import { bounded, Text } from './text.js'
import {
  Entries, Fault, isPair, lengthOf, List, placeOf, type Apply, type Library, type Value
} from './values.js'

/** Compiling an expression of this weight takes some milliseconds. */
const MAX_WEIGHT = 2000
/** Of what matching takes, which upstream charges by the lengths of text and pattern alone. */
const VISITED_PER_WORK = 4
const patterns = new ObjectPatterns(MAX_WEIGHT)
/** Parts of a string. */
const MAX_PARTS = 1_000_000

const outOfRange = (index: bigint | number): Fault => new Fault(`index out of range: ${index}`)

function part (text: string, from: bigint, to?: bigint): Value {
  const start = from < 0n ? undefined : placeOf(text, Number(from))
  if (start === undefined) return outOfRange(from)
  if (to === undefined) return text.slice(start)
  const end = to < 0n ? undefined : placeOf(text, Number(to))
  if (end === undefined) return outOfRange(to)
  return from > to ? new Fault(`invalid substring range. start: ${from}, end: ${to}`) : text.slice(start, end)
}

function * position (
  text: string, values: readonly Value[], last: boolean, meter: Meter
): Steps<Value | undefined> {
  const [, wanted, at] = values
  if (typeof wanted !== 'string') return undefined
  const point = typeof at === 'bigint' ? Number(at) : last ? undefined : 0
  const start = point === undefined ? text.length : point < 0 ? undefined : placeOf(text, point)
  if (start === undefined) return outOfRange(point ?? 0)
  const search = new Search(text, wanted, meter)
  const position = last ? yield * search.upTo(start) : yield * search.from(start)
  return BigInt(position < 0 ? -1 : lengthOf(text.slice(0, position)))
}

const amountOf = (value: Value | undefined): number =>
  typeof value === 'bigint' && value >= 0n ? Number(value) : Infinity

/** The parts between what separates them, at most so many; an empty text separates code points. @throws CostExceeded */
function * partsOf (text: string, by: string, most: number, meter: Meter): Steps<string[]> {
  const [parts, search] = [[] as string[], new Search(text, by, meter)]
  let at = 0
  while (parts.length + 1 < most) {
    const end = by !== '' ? yield * search.from(at) : text.length - at > 0 ? at + (isPair(text, at) ? 2 : 1) : -1
    if (end < 0 || (by === '' && end >= text.length)) break
    if (parts.push(text.slice(at, end)) > MAX_PARTS) throw new CostExceeded()
    at = end + by.length
    meter.work(1)
    if (meter.isDue) yield
  }
  if (by !== '' || at < text.length) parts.push(text.slice(at))
  return parts
}

/** @throws CostExceeded */
function * replaced ([text, from, to, times]: readonly Value[], meter: Meter): Steps<Value | undefined> {
  if (typeof text !== 'string' || typeof from !== 'string' || typeof to !== 'string') return undefined
  const most = amountOf(times)
  // As in Go, an empty string is found at both ends too.
  const parts = from === ''
    ? ['', ...(yield * partsOf(text, from, most, meter)), ...(most > lengthOf(text) ? [''] : [])]
    : yield * partsOf(text, from, most + 1, meter)
  bounded(text.length + (parts.length - 1) * (to.length - from.length))
  return most === 0 ? text : yield * concatenated(parts, to, meter)
}

function * concatenated (parts: readonly string[], by: string, meter: Meter): Steps<string> {
  const text = new Text()
  for (const [index, part] of parts.entries()) {
    text.add(index === 0 ? part : `${by}${part}`)
    meter.work(1)
    if (meter.isDue) yield
  }
  return text.toString()
}

function * split (text: string, by: string, most: Value | undefined, meter: Meter): Steps<Value> {
  const limit = amountOf(most)
  return new List(limit === 0 ? [] : yield * partsOf(text, by, limit, meter))
}

/** @throws CostExceeded for a pattern that is too large */
function expressionOf (pattern: string, meter: Meter): ObjectExpression | Fault {
  const expression = patterns.of(pattern, count => { meter.work(count / VISITED_PER_WORK) })
  if (expression.isTooLarge === true) throw new CostExceeded()
  return expression.why === undefined ? expression : new Fault(`error parsing regexp: ${expression.why}`)
}

const counting = (meter: Meter): Visited => count => {
  meter.work(count / VISITED_PER_WORK)
  return meter.isDue
}

/** @throws CostExceeded */
export function matches (text: string, pattern: string, meter: Meter): Value | Pending<Value> {
  const expression = expressionOf(pattern, meter)
  return expression instanceof Fault ? expression : started(expression.matches(text, counting(meter)))
}

/** As in Go, an empty part is none where another one ends. @throws CostExceeded */
function * found (text: string, pattern: string, most: number, meter: Meter): Steps<string[] | Fault> {
  const [visited, expression] = [counting(meter), expressionOf(pattern, meter)]
  if (expression instanceof Fault) return expression
  const parts: string[] = []
  let [at, ended] = [0, -1]
  while (at <= text.length && parts.length < most) {
    const match = yield * expression.find(text, at, visited)
    if (match === undefined) break
    const [start, end] = match
    if (start < end || start !== ended) parts.push(text.slice(start, end))
    ended = end
    at = end > at ? end : at + (isPair(text, at) ? 2 : 1)
    if (meter.isDue) yield
  }
  return parts
}

/** The other case of the letters between two codes. */
function changed (text: string, first: number, last: number): string {
  const units = Buffer.from(text, 'utf16le')
  for (let at = 0; at < units.length; at += 2) {
    const unit = units[at] as number // below the length
    if (units[at + 1] === 0 && unit >= first && unit <= last) units[at] = unit ^ 0x20
  }
  return units.toString('utf16le')
}

/** Changes a text part by part. */
export function * inParts (text: string, change: (part: string) => string, meter: Meter): Steps<string> {
  if (text.length <= UNITS_OF_PART) return change(text)
  const changed = new Text()
  for (let at = 0; at < text.length; at += UNITS_OF_PART) {
    changed.add(change(text.slice(at, at + UNITS_OF_PART)))
    meter.work(UNITS_OF_PART / UNITS_CHANGED_PER_WORK)
    if (meter.isDue) yield
  }
  return changed.toString()
}
const UNITS_OF_PART = 16_384
const UNITS_CHANGED_PER_WORK = 32

type Method = (text: string, values: readonly Value[], meter: Meter) => ReturnType<Apply>
const plain = (apply: (text: string, argument: string) => Value): Method => (text, [, argument]) =>
  typeof argument === 'string' ? apply(text, argument) : undefined

/** By name. Undefined if there is no such method with these arguments. */
const METHODS: Readonly<Record<string, Method>> = {
  '.lowerAscii': (text, _values, meter) => started(inParts(text, part => changed(part, 0x41, 0x5a), meter)),
  '.upperAscii': (text, _values, meter) => started(inParts(text, part => changed(part, 0x61, 0x7a), meter)),
  '.trim': text => text.trim(),
  '.charAt': (text, [, at]) => {
    if (typeof at !== 'bigint') return undefined
    return at === BigInt(lengthOf(text)) ? '' : part(text, at, at + 1n)
  },
  '.substring': (text, [, from, to]) =>
    typeof from === 'bigint' ? part(text, from, typeof to === 'bigint' ? to : undefined) : undefined,
  '.startsWith': plain((text, start) => text.startsWith(start)),
  '.endsWith': plain((text, end) => text.endsWith(end)),
  '.contains': (text, [, wanted], meter) =>
    typeof wanted === 'string' ? started(contains(text, wanted, meter)) : undefined,
  '.split': (text, [, by, most], meter) => typeof by === 'string' ? started(split(text, by, most, meter)) : undefined,
  '.matches': (text, [, pattern], meter) => typeof pattern === 'string' ? matches(text, pattern, meter) : undefined,
  '.find': (text, [, pattern], meter) => typeof pattern === 'string'
    ? started(firstOf(text, pattern, meter))
    : undefined,
  '.findAll': (text, [, pattern, most], meter) => typeof pattern === 'string'
    ? started(allOf(text, pattern, amountOf(most), meter))
    : undefined
}

function * contains (text: string, wanted: string, meter: Meter): Steps<boolean> {
  return (yield * new Search(text, wanted, meter).from(0)) >= 0
}
function * firstOf (text: string, pattern: string, meter: Meter): Steps<Value> {
  const all = yield * found(text, pattern, 1, meter)
  return all instanceof Fault ? all : all[0] ?? ''
}
function * allOf (text: string, pattern: string, most: number, meter: Meter): Steps<Value> {
  const all = yield * found(text, pattern, most, meter)
  return all instanceof Fault ? all : new List(all)
}

export const ofStrings: Library = [
  ...Object.entries(METHODS).map(([name, method]): [string, Apply] => [name, (values, meter) =>
    typeof values[0] === 'string' ? method(values[0], values, meter) : undefined]),
  ['.replace', (values, meter) => started(replaced(values, meter))]
]

/** The position of a text in another one. */
export const placeIn = (text: string, values: readonly Value[], last: boolean, meter: Meter): ReturnType<Apply> =>
  started(position(text, values, last, meter))

/** An absolute URL, or a path. */
export function urlOf (text: string): URL | undefined {
  const isPath = text.startsWith('/')
  try {
    const url = new URL(isPath ? `path:${text}` : text)
    return isPath || /^[a-z][a-z0-9+.-]*:/i.test(text) ? url : undefined
  } catch {
    return undefined
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '))
  } catch {
    return text
  }
}

export function partOfUrl (name: string, url: URL): Value | undefined {
  switch (name) {
    case '.getScheme': return url.protocol === 'path:' ? '' : url.protocol.slice(0, -1)
    case '.getHost': return url.host
    case '.getHostname': return url.hostname.replace(/^\[|\]$/g, '')
    case '.getPort': return url.port
    case '.getEscapedPath': return url.pathname
    case '.getQuery': {
      const query = new Map<string, Value[]>()
      for (const [, key = '', value = ''] of url.search.slice(1).matchAll(/([^&=]+)=?([^&]*)/g)) {
        const name = decoded(key)
        const values = query.get(name)
        if (values === undefined) query.set(name, [decoded(value)])
        else values.push(decoded(value))
      }
      return new Entries(new Map([...query].map(([key, values]) => [key, new List(values)])))
    }
    default: return undefined
  }
}
