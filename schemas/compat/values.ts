/**
 * Names in the values of a declared type, in place: whole objects, parts of them, and patches that have their
 * structure.
 */
import { isObject, setMember } from '../language/values.js'
import type { Plain } from '../language/types.js'
import { namedPlaces, type Members, type Place } from './places.js'
import { valueOfKey } from './requests.js'
import { translateGroup, type Translation } from './text.js'

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
      if (Array.isArray(value)) {
        for (let at = 0; at < value.length; at++) value[at] = translateValue(place.item, value[at], kept)
      } else {
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

export function translateStruct (members: Members, value: Plain, kept: Kept): Plain {
  const { beside, typed } = members
  if (beside !== undefined) translateBeside(beside, value, kept)
  const places = namedPlaces(members)
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
export function renamed (map: Plain, rename: (key: string) => string): Plain {
  const keys = Object.keys(map)
  if (keys.every(key => rename(key) === key)) return map
  const renamedMap: Plain = {}
  for (const [key, before] of keys.map((key): [string, string] => [rename(key), key])
    .sort(([one], [other]) => one < other ? -1 : 1)) {
    setMember(renamedMap, key, map[before])
  }
  return renamedMap
}
