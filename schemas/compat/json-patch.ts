/** JSON patches: names in paths and in the values at them. */
import type { Plain } from '../language/types.js'
import { isObject, setMember } from '../language/values.js'
import { ownValue } from './definitions.js'
import type { Place } from './places.js'
import { translateGroup } from './text.js'
import { translateValue, valueOf, type Kept } from './values.js'

interface Position { readonly place: Place, readonly seen: unknown }

/** Segments that name an item of a list, or its end. */
const INDEX = /^(?:\d+|-)$/

/**
 * In place; operations that are none stay for the server to refuse.
 * @param seen the object under the names of the patch, if it is known: some names depend on what stands beside them
 */
export function translateJsonPatch (root: Place, patch: unknown, kept: Kept, seen?: unknown): unknown {
  const start: Position = { place: root, seen }
  if (!Array.isArray(patch)) return patch
  for (const operation of patch as unknown[]) {
    if (!isObject(operation)) continue
    const { from, path } = operation
    if (typeof from === 'string') operation['from'] = translatePointer(start, from, kept).pointer
    if (typeof path !== 'string') continue
    const { pointer, place } = translatePointer(start, path, kept)
    operation['path'] = pointer
    if (place !== undefined && 'value' in operation) {
      operation['value'] = ownMembers(place, translateValue(place, operation['value'], kept))
    }
  }
  return patch
}

/** A value with our members, in place. */
function ownMembers (place: Place, value: unknown): unknown {
  switch (place.kind) {
    case 'items':
      if (typeof value !== 'object' || value === null) return value
      for (const [key, member] of Object.entries(value)) setMember(value as Plain, key, ownMembers(place.item, member))
      return value
    case 'struct': return ownValue(place.members.message, value)
    case 'union': {
      const chosen = place.placeOf(value)
      return chosen === undefined ? value : ownMembers(chosen, value)
    }
    default: return value
  }
}

interface Translated { readonly pointer: string, readonly place: Place | undefined }

/** Stops where no place is known, because a pointer may have thousands of segments. */
function translatePointer (start: Position, pointer: string, kept: Kept): Translated {
  let { place, seen }: { place: Place | undefined, seen: unknown } = start
  let at = pointer.indexOf('/')
  if (at < 0) return { pointer, place }
  let translated = pointer.slice(0, at)
  while (at < pointer.length && place !== undefined) {
    const next = pointer.indexOf('/', at + 1)
    const end = next < 0 ? pointer.length : next
    const segment = pointer.slice(at + 1, end)
    const text = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    const [name, below] = step({ place, seen }, text, kept)
    place = below
    seen = isObject(seen) || Array.isArray(seen) ? (seen as Record<string, unknown>)[text] : undefined
    translated += `/${name === text ? segment : name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    at = end
  }
  return { pointer: translated + pointer.slice(at), place }
}

/** The other name of a member, and its place. */
function step ({ place, seen }: Position, name: string, kept: Kept): [name: string, place: Place | undefined] {
  switch (place.kind) {
    case 'keys': {
      const of = valueOf(name, kept)
      return [place.of(name), of === undefined ? undefined : { kind: 'text', of, list: false }]
    }
    case 'items': return [name, place.item]
    case 'text': return [name, place.list ? { ...place, list: false } : undefined]
    case 'struct': {
      const { places, beside, names, typed } = place.members
      const of = beside?.[0] === name && isObject(seen) ? beside[1](seen) : undefined
      if (of !== undefined) return [name, { kind: 'text', of, list: name !== 'name' }]
      if (typed && name === 'apiVersion') return [name, { kind: 'text', of: translateGroup, list: false }]
      return [names?.get(name) ?? name, places.get(name)]
    }
    case 'union': {
      const chosen = place.placeOf(INDEX.test(name) ? [] : {})
      return chosen === undefined ? [name, undefined] : step({ place: chosen, seen }, name, kept)
    }
  }
}
