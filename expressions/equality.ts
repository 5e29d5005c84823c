/** Which values are equal. Lists and maps are compared in steps, as they may be long. */
import type { Steps } from '../schemas/steps.js'
import type { Meter } from './meter.js'
import {
  compare, isDict, Items, kindOf, Instant, Opaque, Optional, Span, TypeValue, Uint, type Dict, type Value
} from './values.js'

/** Values of different types are not equal, except for numbers. Undefined if their parts have to be compared. */
export function alike (left: Value, right: Value): boolean | undefined {
  if (left === right) return true
  if (typeof left === 'string' || typeof right === 'string') return false
  const order = compare(left, right)
  if (order !== undefined) return order === 0
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false
  if (left instanceof TypeValue && right instanceof TypeValue) return left.name === right.name
  if (left instanceof URL && right instanceof URL) return left.href === right.href
  if (left instanceof Opaque) return right instanceof Opaque && left.type === right.type && left.equals(right)
  if (left instanceof Items || left instanceof Optional) return undefined
  return isDict(left) && isDict(right) ? undefined : false
}

/** The same for parts of values, which count. */
export function plainly (left: Value, right: Value, meter: Meter): boolean | undefined {
  meter.work(1)
  return alike(left, right)
}

/** Of values with parts. */
export function * equals (left: Value, right: Value, meter: Meter): Steps<boolean> {
  if (left instanceof Items) return right instanceof Items && (yield * sameItems(left, right, meter))
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false
    return left.value === undefined || right.value === undefined
      ? left.value === right.value
      : plainly(left.value, right.value, meter) ?? (yield * equals(left.value, right.value, meter))
  }
  return yield * sameEntries(left as Dict, right as Dict, meter) // as `alike` says
}

function * sameItems (left: Items, right: Items, meter: Meter): Steps<boolean> {
  if (left.size !== right.size) return false
  const identity = left.identity ?? right.identity
  const known = identity === undefined ? undefined : yield * byIdentity(right, identity, meter)
  for (let index = 0; index < left.size; index++) {
    if (meter.isDue) yield
    const item = left.at(index) ?? null
    const other = known === undefined || identity === undefined
      ? right.at(index) ?? null
      : known.get(yield * identityOf(item, identity, meter))
    if (other === undefined || !(plainly(item, other, meter) ?? (yield * equals(item, other, meter)))) return false
  }
  return true
}

function * sameEntries (left: Dict, right: Dict, meter: Meter): Steps<boolean> {
  if (left.size !== right.size) return false
  for (const key of left.keys()) {
    if (meter.isDue) yield
    const [value, other] = [left.get(key), right.get(key)]
    if (value === undefined || other === undefined) return false
    if (!(plainly(value, other, meter) ?? (yield * equals(value, other, meter)))) return false
  }
  return true
}

/** The items of a list that holds only one of each identity. */
export function * byIdentity (
  list: Items, identity: 'set' | readonly string[], meter: Meter, known = new Map<string, Value>()
): Steps<Map<string, Value>> {
  for (let index = 0; index < list.size; index++) {
    if (meter.isDue) yield
    meter.work(1)
    const item = list.at(index) ?? null
    known.set(yield * identityOf(item, identity, meter), item)
  }
  return known
}

/** Equal for items of which a list holds only one. */
function * identityOf (item: Value, identity: 'set' | readonly string[], meter: Meter): Steps<string> {
  if (identity === 'set') return yield * text(item, meter)
  const keys: string[] = []
  const members = typeof item === 'object' && item !== null && isDict(item) ? item : undefined
  for (const key of identity) keys.push(yield * text(members?.get(key) ?? null, meter))
  return keys.join()
}

/** The same for equal values. */
function * text (value: Value, meter: Meter): Steps<string> {
  meter.work(1)
  if (meter.isDue) yield
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'bigint' || typeof value === 'number' ? `n${value}` : JSON.stringify(value)
  }
  if (value instanceof Items) {
    let all = ''
    for (let index = 0; index < value.size; index++) all += `${yield * text(value.at(index) ?? null, meter)},`
    return `[${all}]`
  }
  if (value instanceof Opaque) return `${value.type} ${String(value)}`
  if (value instanceof Uint) return `n${value.value}`
  if (value instanceof Instant || value instanceof Span) return `${kindOf(value)} ${value.nanoseconds}`
  if (!isDict(value)) return JSON.stringify(value)
  let all = ''
  for (const key of [...value.keys()].sort()) {
    all += `${JSON.stringify(String(key))}:${yield * text(value.get(key) ?? null, meter)},`
  }
  return `{${all}}`
}
