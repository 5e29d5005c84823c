/** Functions of optional values. */
import type { Steps } from '../schemas/steps.js'
import type { Meter } from './meter.js'
import { started } from './pending.js'
import {
  Fault, Instant, isDict, Items, List, Optional, sizeOf, Span, Uint, type Apply, type Library, type Value
} from './values.js'

function isZero (value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Span) return value.nanoseconds === 0n
  if (value instanceof Instant) return false
  return typeof value === 'object' && (value instanceof Items || value instanceof Uint8Array || isDict(value)) &&
    sizeOf(value) === 0
}

function * unwrapped (list: Items, meter: Meter): Steps<Value | undefined> {
  const held: Value[] = []
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    meter.work(1)
    const item = list.at(index)
    if (!(item instanceof Optional)) return undefined
    if (item.value !== undefined) held.push(item.value)
  }
  return new List(held)
}
const unwrap: Apply = ([list], meter) => list instanceof Items ? started(unwrapped(list, meter)) : undefined

export const ofOptionals: Library = [
  ['optional.of', ([value]) => new Optional(value)],
  ['optional.ofNonZeroValue', ([value = null]) => isZero(value) ? new Optional() : new Optional(value)],
  ['optional.none', () => new Optional()],
  ['.value', ([of]) =>
    of instanceof Optional ? of.value ?? new Fault('optional.none() dereference') : undefined],
  ['.hasValue', ([of]) => of instanceof Optional ? of.value !== undefined : undefined],
  ['optional.unwrap', unwrap], ['.unwrapOpt', unwrap],
  ['.first', ([list]) => list instanceof Items ? new Optional(list.at(0)) : undefined],
  ['.last', ([list]) => list instanceof Items ? new Optional(list.at(list.size - 1)) : undefined]
]
