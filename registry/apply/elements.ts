/**
 * Elements of paths in field sets: `f:name` is a member of a struct or map, `k:{"port":80}` the list item with these
 * keys, `v:"x"` an item of a set, `i:0` a list index. The text is canonical (compact JSON, ascending key names), so
 * equal elements have equal texts.
 */
import { parseExactly, parseLong, stringify } from '../../schemas/codec/json/exact.js'
import { parseJson } from '../../schemas/codec/json/parse.js'
import { isAscending } from '../../schemas/sorted.js'
import { isObject } from '../../schemas/language/values.js'

/** Marks the field itself, beside the fields below it. */
export const SELF = '.'

const KINDS = 'fkvi'

export const fieldElement = (name: string): string => `f:${name}`
export const valueElement = (value: unknown): string => `v:${compactJson(value)}`

/** @param names ascending */
export function keyElement (names: readonly string[], valueOf: (name: string) => unknown): string {
  let keys = ''
  for (const name of names) keys += `${keys === '' ? '' : ','}${compactJson(name)}:${compactJson(valueOf(name))}`
  return `k:{${keys}}`
}

const PLAIN = /^[ !#-[\]-~]*$/
const compactJson = (value: unknown): string =>
  typeof value === 'string' && PLAIN.test(value) ? `"${value}"` : stringify(value) ?? 'null'

/**
 * The canonical text of an element that a client wrote. Undefined for unknown kinds, which are ignored.
 * @throws TypeError for malformed text
 */
export function parseElement (text: string): string | undefined {
  if (text === SELF) return SELF
  if (text[1] !== ':') throw new TypeError(`${quote(text)} has no colon after its kind`)
  if (!KINDS.includes(text[0] ?? '')) return undefined
  const rest = text.slice(2)
  switch (text[0]) {
    case 'f': return text
    case 'i': {
      if (!/^-?\d{1,15}$/.test(rest)) throw new TypeError(`${quote(text)} is no index`)
      return `i:${Number(rest)}`
    }
    case 'v': return valueElement(json(rest, text))
    default: {
      const keys = json(rest, text)
      if (!isObject(keys)) throw new TypeError(`${quote(text)} has no object of keys`)
      return keyElement(Object.keys(keys).sort(), name => keys[name])
    }
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** Maximum characters of an element's key or value. */
const MAX_LENGTH = 16 * 1024
/** Characters that cannot nest too deeply to be read at once: there may be thousands of elements. */
const SHORT = 250

function json (text: string, whole: string): unknown {
  if (text.length > MAX_LENGTH) throw new TypeError(`${quote(whole)} is longer than ${MAX_LENGTH} characters`)
  try {
    return text.length <= SHORT ? valueIn(text) : parseJson(Buffer.from(text)).value
  } catch {
    throw new TypeError(`${quote(whole)} is not followed by JSON`)
  }
}

/** Sorts as upstream: fields, keys, values, indexes; each by content. */
export function sortElements (elements: string[]): string[] {
  if (elements.length < 2) return elements
  if (!elements.every(isPlainField) && !haveOneText(elements)) {
    return elements.map(readElement).sort(compareElements).map(({ text }) => text)
  }
  return isAscending(elements) ? elements : elements.toSorted((a, b) => a < b ? -1 : a > b ? 1 : 0)
}

/** A plain text, or the only key with one: such elements sort as they are, as no character is below the quote's. */
const ONE_TEXT = /^(?:v:(?="[#-[\]-~]*"$)|k:\{"[#-[\]-~]+":(?="[#-[\]-~]*"\}$))/

/** So most lists do, whose elements take ten times as long to read, and may be thousands. */
function haveOneText (elements: readonly string[]): boolean {
  const [name] = ONE_TEXT.exec(elements[0] ?? '') ?? []
  return name !== undefined && elements.every(element => element.startsWith(name) && ONE_TEXT.test(element))
}

/** An element as it sorts: thousands are compared often, so it is read once. */
interface Read {
  readonly text: string
  readonly kind: number
  /** Names of keys; one for what has no keys. */
  readonly names: readonly string[]
  /** Of the keys; or a value or an index alone. */
  readonly values: readonly unknown[]
}

function readElement (text: string): Read {
  const kind = KINDS.indexOf(text[0] ?? '')
  if (text.startsWith('f:')) return { text, kind, names: [text], values: [''] }
  const value = valueIn(text.slice(2))
  return text.startsWith('k:') && isObject(value)
    ? { text, kind, names: Object.keys(value), values: Object.values(value) }
    : { text, kind, names: [''], values: [value] }
}

const LONG_DIGITS = /\d{16}/
/** The value of canonical JSON. */
const valueIn = (json: string): unknown => LONG_DIGITS.test(json) ? parseLong(json) : JSON.parse(json)

function compareElements (a: Read, b: Read): number {
  if (a.kind !== b.kind) return a.kind - b.kind
  for (const [at, name] of a.names.entries()) {
    const other = b.names[at]
    if (other === undefined) return 1
    const order = compareText(name, other) || compareValues(a.values[at], b.values[at])
    if (order !== 0) return order
  }
  return a.names.length - b.names.length
}

const SURROGATE = /[\ud800-\udfff]/
/** Most elements are plain field names, which sort by their text. */
const isPlainField = (element: string): boolean => element.startsWith('f:') && !SURROGATE.test(element)

/** By code point, which equals the order of the UTF-8 bytes. */
function compareText (a: string, b: string): number {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

const RANKS = ['number', 'string', 'boolean', 'object', 'null']
const rank = (value: unknown): number =>
  RANKS.indexOf(value === null ? 'null' : typeof value === 'bigint' ? 'number' : typeof value)

/** Compares keys or values of items. */
export function compareValues (a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (isObject(a) && isObject(b)) return compareKeys(Object.entries(a), Object.entries(b))
  if (typeof a === 'object') return compareText(stringify(a) ?? '', stringify(b) ?? '')
  return a === b ? 0 : (a as number) < (b as number) ? -1 : 1 // equal ranks are comparable
}

function compareKeys (a: ReadonlyArray<[string, unknown]>, b: ReadonlyArray<[string, unknown]>): number {
  for (const [at, [name, value]] of a.entries()) {
    const other = b[at]
    if (other === undefined) return 1
    const order = compareText(name, other[0]) || compareValues(value, other[1])
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** A path as messages print it: `.spec.containers[name="a"].image`. */
export function pathText (path: readonly string[]): string {
  return path.map(element => {
    const rest = element.slice(2)
    if (element.startsWith('f:')) return `.${rest}`
    if (element.startsWith('i:')) return `[${rest}]`
    if (element.startsWith('v:')) return `[=${rest}]`
    const keys = parseExactly(Buffer.from(rest)) as Record<string, unknown> // canonical keys are an object
    return `[${Object.entries(keys).map(([name, value]) => `${name}=${stringify(value)}`).join()}]`
  }).join('')
}
