/** String functions. Positions are code points. */
import { ObjectPatterns } from '../schemas/api/apiextensions/patterns.js'
import { CostExceeded, type Meter } from './meter.js'
import { Entries, Fault, lengthOf, List, points, type Value } from './values.js'

/** Maximum length of the strings that rules create: what a request can hold. */
const MAX_LENGTH = 3 * 1024 * 1024
/** Compiling an expression of this weight takes some milliseconds. */
const MAX_WEIGHT = 2000
const WORK_OF_WEIGHT = 4
const patterns = new ObjectPatterns(MAX_WEIGHT)
/** Maximum number of parts into which a function splits a string. */
const MAX_PARTS = 20_000

const joined = (part: readonly string[] | string): string => typeof part === 'string' ? part : part.join('')
const outOfRange = (index: bigint): Fault => new Fault(`index out of range: ${index}`)

/** @throws CostExceeded */
export function bounded (length: number): void {
  if (length > MAX_LENGTH) throw new CostExceeded()
}

function part (text: string, from: bigint, to?: bigint): Value {
  const all = points(text)
  const [start, end] = [Number(from), to === undefined ? all.length : Number(to)]
  if (start < 0 || start > all.length) return outOfRange(from)
  if (end < 0 || end > all.length) return outOfRange(to ?? 0n)
  return start > end
    ? new Fault(`invalid substring range. start: ${start}, end: ${end}`)
    : joined(all.slice(start, end))
}

function position (text: string, wanted: string, at: Value | undefined, last: boolean): Value {
  const length = lengthOf(text)
  const start = at === undefined ? (last ? length : 0) : Number(at)
  if (start < 0 || start > length) return outOfRange(BigInt(start))
  const units = joined(points(text).slice(0, start)).length
  const index = last ? text.lastIndexOf(wanted, units) : text.indexOf(wanted, units)
  return BigInt(index < 0 ? -1 : lengthOf(text.slice(0, index)))
}

const amountOf = (value: Value | undefined): number =>
  typeof value === 'bigint' && value >= 0n ? Number(value) : Infinity

/** @throws CostExceeded */
function partsOf (text: string, by: string): string[] {
  const parts = by === '' ? [...text.slice(0, 2 * MAX_PARTS + 2)] : text.split(by, MAX_PARTS + 1)
  if (parts.length > MAX_PARTS) throw new CostExceeded()
  return parts
}

function replaced (text: string, from: string, to: string, times: Value | undefined): string {
  const most = amountOf(times)
  const parts = partsOf(text, from)
  const count = Math.min(parts.length + (from === '' ? 1 : -1), most)
  bounded(text.length + count * Math.max(0, to.length - from.length))
  // As in Go, an empty string is found at both ends too.
  const pieces = from === '' ? ['', ...parts, ''] : parts
  return pieces.slice(0, count).map(piece => piece + to).join('') + pieces.slice(count).join(from)
}

function split (text: string, by: string, most: Value | undefined): Value {
  const limit = amountOf(most)
  if (limit === 0) return new List([])
  const parts = partsOf(text, by)
  return new List(parts.length <= limit ? parts : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)])
}

/** @throws CostExceeded for a pattern that would block the event loop */
export function matches (text: string, pattern: string, meter: Meter): Value {
  const { why, matches, tooLong } = patterns.of(pattern, weight => { meter.work(weight * WORK_OF_WEIGHT) })
  if (why !== undefined) return new Fault(`error parsing regexp: ${why}`)
  if (tooLong(text)) throw new CostExceeded()
  return matches(text)
}

function found (text: string, pattern: string, most: number, meter: Meter): Value[] | Fault {
  const { why, matchesIn, tooLong } = patterns.of(pattern, weight => { meter.work(weight * WORK_OF_WEIGHT) })
  if (why !== undefined) return new Fault(`error parsing regexp: ${why}`)
  const parts = tooLong(text) ? undefined : matchesIn(text, most)
  if (parts === undefined) throw new CostExceeded()
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

const ASCII: Readonly<Record<string, (text: string) => string>> = {
  '.lowerAscii': text => changed(text, 0x41, 0x5a), '.upperAscii': text => changed(text, 0x61, 0x7a),
  '.trim': text => text.trim()
}

/**
 * The result of a method of a string; undefined if it has no such method with these arguments.
 * @param values the string and the arguments
 */
export function methodOfString (
  name: string, text: string, values: readonly Value[], meter: Meter
): Value | undefined {
  const [, first, second] = values
  const plain = ASCII[name]
  if (plain !== undefined) return plain(text)
  if (typeof first === 'bigint') {
    if (name === '.charAt') return first === BigInt(lengthOf(text)) ? '' : part(text, first, first + 1n)
    return name !== '.substring' ? undefined : part(text, first, typeof second === 'bigint' ? second : undefined)
  }
  if (typeof first !== 'string') return undefined
  switch (name) {
    case '.contains': return text.includes(first)
    case '.startsWith': return text.startsWith(first)
    case '.endsWith': return text.endsWith(first)
    case '.indexOf': return position(text, first, second, false)
    case '.lastIndexOf': return position(text, first, second, true)
    case '.split': return split(text, first, second)
    case '.matches': return matches(text, first, meter)
    case '.find': {
      const all = found(text, first, 1, meter)
      return all instanceof Fault ? all : all[0] ?? ''
    }
    case '.findAll': {
      const all = found(text, first, amountOf(second), meter)
      return all instanceof Fault ? all : new List(all)
    }
    default: return undefined
  }
}

export const replace = (
  text: string, from: Value | undefined, to: Value | undefined, times: Value | undefined
): Value | undefined =>
  typeof from === 'string' && typeof to === 'string' ? replaced(text, from, to, times) : undefined

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
