/** Functions of optional values. */
import {
  Fault, Instant, isDict, Items, List, Optional, sizeOf, Span, Uint, type Library, type Value
} from './values.js'

function isZero (value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Span) return value.nanoseconds === 0n
  if (value instanceof Instant) return false
  return typeof value === 'object' && (value instanceof Items || value instanceof Uint8Array || isDict(value)) &&
    sizeOf(value) === 0
}

function unwrapped (list: Value | undefined): Value | undefined {
  if (!(list instanceof Items)) return undefined
  const held: Value[] = []
  for (const item of list.items) {
    if (!(item instanceof Optional)) return undefined
    if (item.value !== undefined) held.push(item.value)
  }
  return new List(held)
}

export const ofOptionals: Library = [
  ['optional.of', ([value]) => new Optional(value)],
  ['optional.ofNonZeroValue', ([value = null]) => isZero(value) ? new Optional() : new Optional(value)],
  ['optional.none', () => new Optional()],
  ['.value', ([of]) =>
    of instanceof Optional ? of.value ?? new Fault('optional.none() dereference') : undefined],
  ['.hasValue', ([of]) => of instanceof Optional ? of.value !== undefined : undefined],
  ['optional.unwrap', ([list]) => unwrapped(list)], ['.unwrapOpt', ([list]) => unwrapped(list)],
  ['.first', ([list]) => list instanceof Items ? new Optional(list.at(0)) : undefined],
  ['.last', ([list]) => list instanceof Items ? new Optional(list.at(list.size - 1)) : undefined]
]
