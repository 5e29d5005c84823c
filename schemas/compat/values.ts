/**
 * Names in the values of a declared type, in place: whole objects, parts of them, and patches that have their
 * structure.
 */
import { sortedJson } from '../codec/json/escape.js'
import { isObject, setMember } from '../language/values.js'
import type { Plain } from '../language/types.js'
import type { Members, Place } from './places.js'
import { valueOfKey } from './requests.js'
import { hasSign, translateGroup, type Translation } from './text.js'

/** Translates the object that kubectl keeps in an annotation. */
export type Kept = (json: string) => string

/** The annotation, which has this name for every client. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The value with its names translated; objects and lists are changed in place, and of another type than declared, stay
 * as they are.
 */
export function translateValue (place: Place, value: unknown, kept: Kept): unknown {
  switch (place.kind) {
    case 'text':
      if (!place.list) return typeof value === 'string' ? place.of(value) : value
      if (Array.isArray(value)) {
        for (let at = 0; at < value.length; at++) {
          if (typeof value[at] === 'string') value[at] = place.of(value[at] as string)
        }
      }
      return value
    case 'keys': return isObject(value) ? withKeys(value, place.of, kept) : value
    case 'items': {
      if (typeof value !== 'object' || value === null || Array.isArray(value) === place.map) return value
      if (Array.isArray(
        value
      )) for (let at = 0; at < value.length; at++) value[at] = translateValue(place.item, value[at], kept)
      else {
        for (const key of Object.keys(value)) {
          const before = (value as Plain)[key]
          const after = translateValue(place.item, before, kept)
          if (after !== before) setMember(value, key, after)
        }
      }
      return value
    }
    case 'struct': return isObject(value) ? translateStruct(place.members, value, kept) : value
    case 'union': {
      const chosen = place.placeOf(value)
      return chosen === undefined ? value : translateValue(chosen, value, kept)
    }
  }
}

export function translateStruct ({ places, beside, typed }: Members, value: Plain, kept: Kept): Plain {
  if (beside !== undefined) translateBeside(beside, value, kept)
  for (const name of Object.keys(value)) {
    const place = places.get(name)
    const before = value[name]
    if (place === undefined || before === undefined || before === null) continue
    value[name] = translateValue(place, before, kept)
  }
  if (typed && typeof value['apiVersion'] === 'string') value['apiVersion'] = translateGroup(value['apiVersion'])
  return value
}

function translateBeside ([field, ofValue]: NonNullable<Members['beside']>, value: Plain, kept: Kept): void {
  const before = value[field]
  const of = before === undefined ? undefined : ofValue(value)
  if (of !== undefined) value[field] = translateValue({ kind: 'text', of, list: Array.isArray(before) }, before, kept)
}

function withKeys (map: Plain, of: Translation, kept: Kept): Plain {
  for (const key of Object.keys(map)) {
    const translated = valueOf(key, kept)
    if (translated !== undefined && typeof map[key] === 'string') map[key] = translated(map[key])
  }
  return renamed(map, of)
}

/** What translates the value of a key; undefined for the client's own text. */
export const valueOf = (key: string, kept: Kept): Translation | undefined =>
  key === LAST_APPLIED ? kept : valueOfKey(key)

/** With other keys, ascending as the server writes them; the same object if there are none. */
function renamed (map: Plain, rename: (key: string) => string): Plain {
  const keys = Object.keys(map)
  if (keys.every(key => rename(key) === key)) return map
  const made: Plain = {}
  for (const [key, before] of keys.map((key): [string, string] => [rename(key), key])
    .sort(([one], [other]) => one < other ? -1 : 1)) {
    setMember(made, key, map[before])
  }
  return made
}

/** Keys of items hold no annotation. */
const NOT_KEPT: Kept = json => json

/**
 * The tree of `fieldsV1`, in which f: stands before members, k: before the keys of items and v: before items
 * themselves. Others may share it: not in place.
 */
export function translateFields (place: Place | undefined, tree: unknown): unknown {
  if (place === undefined || !isObject(tree)) return tree
  switch (place.kind) {
    case 'text':
      return renamed(tree, key => key.startsWith('v:')
        ? `v:${translatedJson(key.slice(2), value => typeof value === 'string' ? place.of(value) : value)}`
        : key)
    case 'keys': return renamed(tree, key => key.startsWith('f:') ? `f:${place.of(key.slice(2))}` : key)
    case 'items': {
      const { item } = place
      return renamed(withChanged(tree, Object.keys(tree).filter(key => key !== '.'), () => item), key =>
        key.startsWith('k:')
          ? `k:${translatedJson(key.slice(2), value => translateValue(item, value, NOT_KEPT))}`
          : key)
    }
    case 'struct': {
      const { places, names } = place.members
      const made = withChanged(tree, Object.keys(tree), key => places.get(key.slice(2)))
      return names === undefined ? made : renamed(made, key => `f:${names.get(key.slice(2)) ?? key.slice(2)}`)
    }
    case 'union': {
      const hasFields = Object.keys(tree).some(key => key.startsWith('f:'))
      return translateFields(place.placeOf(hasFields ? {} : []), tree)
    }
  }
}

/** The tree with translated members; the same if none of them changes. */
function withChanged (tree: Plain, keys: readonly string[], placeOf: (key: string) => Place | undefined): Plain {
  let made = tree
  for (const key of keys) {
    const after = translateFields(placeOf(key), tree[key])
    if (after === tree[key]) continue
    if (made === tree) made = { ...tree }
    setMember(made, key, after)
  }
  return made
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** No key of a list's item is longer. */
const MAX_KEY = 10_000
const ESCAPE = '\\'

function translatedJson (json: string, change: (value: unknown) => unknown): string {
  if (json.length > MAX_KEY || !(hasSign(json) || json.includes(ESCAPE))) return json
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return json // the server says what is wrong with it
  }
  // Keys are scalars; what is nested may be deeper than the stack.
  if (isNested(value) && Object.values(value).some(isNested)) return json
  const before = sortedJson(value)
  const after = sortedJson(change(value))
  return after === before || after.length > MAX_KEY ? json : after
}
