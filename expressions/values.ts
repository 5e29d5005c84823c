/** Values at run time. Errors are values too: `||` and `&&` absorb them. */
import type { Steps, WaitingSteps } from '../schemas/steps.js'
import type { Meter } from './meter.js'
import { opaqueName } from './types.js'

export class Uint { constructor (readonly value: bigint) {} }
/** Nanoseconds since the epoch. */
export class Instant { constructor (readonly nanoseconds: bigint) {} }
export class Span { constructor (readonly nanoseconds: bigint) {} }
/** A type as a value. */
export class TypeValue { constructor (readonly name: string) {} }
export class Fault { constructor (readonly message: string) {} }
export const orFault = (value: Value | undefined, problem: string): Value =>
  value === undefined ? new Fault(problem) : value
/** Undefined for none. */
export class Optional { constructor (readonly value?: Value) {} }
/** A value of a library's own type. */
export abstract class Opaque {
  abstract readonly type: Parameters<typeof opaqueName>[0]
  equals (other: Opaque): boolean { return this === other }
  /** For costs. */
  get size (): number { return 1 }
}
/** A member that is evaluated when it is first read. */
export class Deferred {
  #value: Value | undefined
  readonly #evaluate: () => Steps<Value> | WaitingSteps<Value>
  constructor (evaluate: () => Steps<Value> | WaitingSteps<Value>) { this.#evaluate = evaluate }
  * value (): WaitingSteps<Value> { return this.#value ??= yield * this.#evaluate() }
}

export type Key = string | bigint | boolean
export interface Dict {
  readonly size: number
  /** Only objects whose type says so have members that are deferred. */
  readonly get: (key: Key) => Value | undefined
  readonly keys: () => readonly Key[]
}
export abstract class Items {
  abstract readonly items: readonly Value[]
  abstract readonly size: number
  abstract at (index: number): Value | undefined
  /** See `Type.identity`. */
  readonly identity: 'set' | readonly string[] | undefined
  constructor (identity?: 'set' | readonly string[]) { this.identity = identity }
}

export class List extends Items {
  constructor (readonly items: readonly Value[], identity?: 'set' | readonly string[]) { super(identity) }
  get size (): number { return this.items.length }
  at (index: number): Value | undefined { return this.items[index] }
}
export class Entries implements Dict {
  /** @param struct the name of its type, for an object that an expression made */
  constructor (readonly entries: ReadonlyMap<Key, Value>, readonly struct?: string) {}
  get size (): number { return this.entries.size }
  get (key: Key): Value | undefined { return this.entries.get(key) }
  keys (): readonly Key[] { return [...this.entries.keys()] }
}
/** A member that was not asked for is none of these: see `Deferred`. */
export type Value = boolean | bigint | number | string | null | Uint | Uint8Array | Instant | Span | TypeValue | URL |
  Items | Dict | Fault | Optional | Opaque | Deferred

export const isDict = (value: Value): value is Dict => typeof value === 'object' && value !== null && 'keys' in value &&
  !(value instanceof Uint8Array) && !(value instanceof URL)

/** A function; undefined stands for an overload that does not exist. The receiver of a method is the first value. */
export type Apply = (values: readonly Value[], meter: Meter) => Value | undefined
/** Functions by name; methods have a dot. */
export type Library = ReadonlyArray<readonly [string, Apply]>

/** The name of the type of a value. */
export function kindOf (value: Value): string {
  if (value === null) return 'null_type'
  if (typeof value !== 'object') {
    return typeof value === 'bigint'
      ? 'int'
      : typeof value === 'number'
        ? 'double'
        : typeof value === 'boolean'
          ? 'bool'
          : 'string'
  }
  if (value instanceof Items) return 'list'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Instant) return 'google.protobuf.Timestamp'
  if (value instanceof Span) return 'google.protobuf.Duration'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof Opaque) return opaqueName(value.type)
  if (value instanceof Entries && value.struct !== undefined) return value.struct
  return value instanceof TypeValue ? 'type' : value instanceof URL ? opaqueName('url') : 'map'
}

const SURROGATE = /[\ud800-\udbff][\udc00-\udfff]/
/** Short strings take no look. */
const isShort = (text: string): boolean => text.length < 2
/** The code points of a string, which positions count. */
export const points = (text: string): readonly string[] | string =>
  !isShort(text) && SURROGATE.test(text) ? [...text] : text
export const lengthOf = (text: string): number => points(text).length

/** Code points, bytes or items; 1 for other values. */
export function sizeOf (value: Value | undefined): number {
  if (typeof value === 'string') return lengthOf(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.length
  if (value instanceof Items || value instanceof Opaque) return value.size
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOf(value.value)
  return !(value instanceof Fault) && isDict(value) ? value.size : 1
}

/** Numbers of all types, for comparison. */
const amount = (value: Value): bigint | number | undefined =>
  value instanceof Uint ? value.value : typeof value === 'bigint' || typeof value === 'number' ? value : undefined

/** Negative, zero or positive; NaN if neither; undefined for values without an order. */
export function compare (left: Value, right: Value): number | undefined {
  const [a, b] = [amount(left), amount(right)]
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : a == b ? 0 : NaN // eslint-disable-line eqeqeq
  if (typeof left === 'string' && typeof right === 'string') {
    return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right))
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right)
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right)
  if ((left instanceof Instant && right instanceof Instant) || (left instanceof Span && right instanceof Span)) {
    return left.nanoseconds < right.nanoseconds ? -1 : left.nanoseconds > right.nanoseconds ? 1 : 0
  }
  return undefined
}

/** Values of different types are not equal, except for numbers. */
export function equals (left: Value, right: Value, meter: Meter): boolean {
  meter.work(1)
  if (left === right) return true
  if (typeof left === 'string' || typeof right === 'string') return false
  const order = compare(left, right)
  if (order !== undefined) return order === 0
  if (left instanceof Items && right instanceof Items) return sameItems(left, right, meter)
  if (left instanceof TypeValue && right instanceof TypeValue) return left.name === right.name
  if (left instanceof URL && right instanceof URL) return left.href === right.href
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false
  if (left instanceof Opaque) return right instanceof Opaque && left.type === right.type && left.equals(right)
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false
    return left.value === undefined || right.value === undefined
      ? left.value === right.value
      : equals(left.value, right.value, meter)
  }
  return isDict(left) && isDict(right) && sameEntries(left, right, meter)
}

function sameItems (left: Items, right: Items, meter: Meter): boolean {
  if (left.size !== right.size) return false
  const [{ items }, { items: others }] = [left, right]
  const identity = left.identity ?? right.identity
  if (identity === undefined) return items.every((item, index) => equals(item, others[index] ?? null, meter))
  const known = new Map(others.map(item => [identityOf(item, identity), item]))
  return items.every(item => {
    const other = known.get(identityOf(item, identity))
    return other !== undefined && equals(item, other, meter)
  })
}

function sameEntries (left: Dict, right: Dict, meter: Meter): boolean {
  return left.size === right.size && left.keys().every(key => {
    const [value, other] = [left.get(key), right.get(key)]
    return value !== undefined && other !== undefined && equals(value, other, meter)
  })
}

/** Equal for items of which a list holds only one. */
export function identityOf (item: Value, identity: 'set' | readonly string[]): string {
  if (identity === 'set') return text(item)
  return identity.map(key =>
    text(typeof item === 'object' && item !== null && isDict(item) ? item.get(key) ?? null : null)).join()
}

/** The same for equal values. */
export function text (value: Value): string {
  if (value instanceof Items) return `[${value.items.map(text).join()}]`
  if (value instanceof Opaque) return `${value.type} ${String(value)}`
  if (value instanceof Uint) return `n${value.value}`
  if (typeof value === 'object' && value !== null && isDict(value)) {
    return `{${[...value.keys()]
      .sort().map(key => `${JSON.stringify(String(key))}:${text(value.get(key) ?? null)}`).join()}}`
  }
  if (value instanceof Instant || value instanceof Span) return `${kindOf(value)} ${value.nanoseconds}`
  return typeof value === 'bigint' || typeof value === 'number' ? `n${value}` : JSON.stringify(value)
}
