/** Plain values: comparison, copies, paths and base64. */

/** Not a list. */
export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' &&
  value !== null && !Array.isArray(value)

/** Deep equality in which absent, undefined and an empty list or map are equal. */
export function sameValue (a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEmpty(a) && isEmpty(b)
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, index) => sameValue(item, b[index]))
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return Object.keys(left).every(key => sameValue(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) &&
    Object.keys(right).every(key => Object.hasOwn(left, key) || isEmpty(right[key]))
}

function isEmpty (value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

/** The same, but presence counts too: for values whose emptiness is tracked. */
export const sameValueAndPresence = (a: unknown, b: unknown): boolean => (a === undefined) === (b === undefined) &&
  sameValue(a, b)

/** Compares plain values; an empty value differs from a missing one. */
export function isIdentical (a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null ||
    Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(left)
  return names.length === Object.keys(right).length &&
    names.every(name => Object.hasOwn(right, name) && isIdentical(left[name], right[name]))
}

/** A deep copy. Any key stays data, `__proto__` too. */
export function clone<T> (value: T): T {
  return copy(value) as T
}

function copy (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const source = value as Record<string, unknown>
  const target: Record<string, unknown> = Object.getPrototypeOf(value) === null ? Object.create(null) : {}
  for (const key of Object.keys(source)) setMember(target, key, copy(source[key]))
  return target
}

/** The value at a path such as `spec.nodeName`; undefined if any part is missing. */
export function valueAt (object: unknown, path: string): unknown {
  let at = object
  for (const name of path.split('.')) {
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name)
      ? (at as Record<string, unknown>)[name]
      : undefined
  }
  return at
}

/** Sets or removes the value at a path, in place. */
export function putAt (object: Record<string, unknown>, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.')
  if (rest.length > 0) {
    let inner = Object.hasOwn(object, name) ? object[name] : undefined
    if (typeof inner !== 'object' || inner === null) {
      if (value === undefined) return
      setMember(object, name, inner = {})
    }
    putAt(inner as Record<string, unknown>, rest.join('.'), value) // paths go through messages only
  } else if (value === undefined) delete object[name]
  else setMember(object, name, value)
}

/** Sets a member of plain data, `__proto__` too. */
export function setMember (target: object, key: string, value: unknown): void {
  if (key ===
    '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else (target as Record<string, unknown>)[key] = value
}

export function byteLengthOfBase64 (text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return text.length / 4 * 3 - padding
}

const LAST_GROUP = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$/

/** Canonical base64 (standard alphabet, padded) without line breaks; undefined if invalid. */
export function canonicalBase64 (text: string): string | undefined {
  const joined = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text
  // Node skips what is invalid when it decodes, so that it encodes another text; the unused bits of the last group
  // become 0. Comparing both texts takes a third of the time of a regular expression.
  const canonical = Buffer.from(joined, 'base64').toString('base64')
  return canonical.length === joined.length && LAST_GROUP.test(joined.slice(-4)) &&
    canonical.slice(0, -4) === joined.slice(0, -4)
    ? canonical
    : undefined
}
