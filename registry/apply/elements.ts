/**
 * The steps of a path into an object, as they stand in a set of fields: `f:name` of a struct or map, `k:{"port":80}` the item
 * of a list that has these keys, `v:"x"` the item of a set, `i:0` a place in a list. Their text is canonical: compact JSON, the
 * names of keys ascending, so that two steps are the same when their texts are.
 */
import { parseExactly, parseJson, stringify } from '../../schemas/index.js'
import { isAscending } from '../../schemas/sorted.js'

/** Beside what is below it, the field itself. */
export const SELF = '.'

const KINDS = 'fkvi'

export const fieldElement = (name: string): string => `f:${name}`
export const valueElement = (value: unknown): string => `v:${text(value)}`

/** @param names ascending */
export function keyElement (names: readonly string[], valueOf: (name: string) => unknown): string {
  let keys = ''
  for (const name of names) keys += `${keys === '' ? '' : ','}${text(name)}:${text(valueOf(name))}`
  return `k:{${keys}}`
}

const PLAIN = /^[ !#-[\]-~]*$/
/** In compact JSON. */
const text = (value: unknown): string => typeof value === 'string' && PLAIN.test(value) ? `"${value}"` : stringify(value) ?? 'null'

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The canonical text of a step that somebody else wrote. Undefined for kinds of a later time, which mean nothing here.
 * @throws TypeError for what is none
 */
export function parseElement (text: string): string | undefined {
  if (text === SELF) return SELF
  if (text[1] !== ':') throw new TypeError(`${shown(text)} has no colon after its kind`)
  if (!KINDS.includes(text[0] ?? '')) return undefined
  const rest = text.slice(2)
  switch (text[0]) {
    case 'f': return text
    case 'i': {
      if (!/^-?\d{1,15}$/.test(rest)) throw new TypeError(`${shown(text)} is no index`)
      return `i:${Number(rest)}`
    }
    case 'v': return valueElement(json(rest, text))
    default: {
      const keys = json(rest, text)
      if (!isObject(keys)) throw new TypeError(`${shown(text)} has no object of keys`)
      return keyElement(Object.keys(keys).sort(), name => keys[name])
    }
  }
}

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** Characters of the keys or the value of an item. */
const LONGEST = 16 * 1024

function json (text: string, whole: string): unknown {
  if (text.length > LONGEST) throw new TypeError(`${shown(whole)} is longer than ${LONGEST} characters`)
  try {
    return parseJson(Buffer.from(text)).value
  } catch {
    throw new TypeError(`${shown(whole)} is not followed by JSON`)
  }
}

/** In the order of the convention: fields, keys, values, places; each by what they say. */
export function sortElements (elements: string[]): string[] {
  if (elements.length < 2) return elements
  if (elements.every(isPlainField)) return isAscending(elements) ? elements : elements.toSorted((a, b) => a < b ? -1 : a > b ? 1 : 0)
  const parsed = elements.map(text => ({ text, kind: KINDS.indexOf(text[0] ?? ''), value: text.startsWith('f:') ? text : parseExactly(Buffer.from(text.slice(2))) }))
  return parsed.sort((a, b) => a.kind - b.kind || compareValues(a.value, b.value)).map(({ text }) => text)
}

const SURROGATE = /[\ud800-\udfff]/
/** Most are, and then their order is that of their text. */
const isPlainField = (element: string): boolean => element.startsWith('f:') && !SURROGATE.test(element)

/** By code point, which is the order of their UTF-8 bytes. */
function compareText (a: string, b: string): number {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

const RANKS = ['number', 'string', 'boolean', 'object', 'null']
const rank = (value: unknown): number => RANKS.indexOf(value === null ? 'null' : typeof value === 'bigint' ? 'number' : typeof value)

/** Of keys or values of items. */
export function compareValues (a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (isObject(a) && isObject(b)) return compareKeys(Object.entries(a), Object.entries(b))
  if (typeof a === 'object') return compareText(stringify(a) ?? '', stringify(b) ?? '')
  return a === b ? 0 : (a as number) < (b as number) ? -1 : 1 // of one rank, and so comparable
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

/** A path as messages show it: `.spec.containers[name="a"].image`. */
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
