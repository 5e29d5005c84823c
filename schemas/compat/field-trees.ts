/** Names in the trees of `fieldsV1`: in the names of members, the keys of items and the items of sets. */
import { sortedJson } from '../codec/json/escape.js'
import { isObject, setMember } from '../language/values.js'
import type { Plain } from '../language/types.js'
import { renamingPlaces, type Place } from './places.js'
import { hasSign } from './text.js'
import { renamed, translateValue, type Kept } from './values.js'

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
      const { names } = place.members
      const places = renamingPlaces(place.members)
      const translated = places.size === 0 ? tree : withChanged(tree, Object.keys(tree), key => places.get(key))
      return names === undefined
        ? translated
        : renamed(translated, key => `f:${names.get(key.slice(2)) ?? key.slice(2)}`)
    }
    case 'union': {
      const hasFields = Object.keys(tree).some(key => key.startsWith('f:'))
      return translateFields(place.placeOf(hasFields ? {} : []), tree)
    }
  }
}

/** The tree with translated members; the same if none of them changes. */
function withChanged (tree: Plain, keys: readonly string[], placeOf: (key: string) => Place | undefined): Plain {
  let changed = tree
  for (const key of keys) {
    const after = translateFields(placeOf(key), tree[key])
    if (after === tree[key]) continue
    if (changed === tree) changed = { ...tree }
    setMember(changed, key, after)
  }
  return changed
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
