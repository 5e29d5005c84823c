/** Values at run time. Errors are values too: `||` and `&&` absorb them. */
import type { Steps, WaitingSteps } from '../schemas/steps.js'
import type { Meter } from './meter.js'
import type { Pending } from './pending.js'
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
  abstract readonly size: number
  abstract at (index: number): Value | undefined
  /** See `Type.identity`. */
  readonly identity: 'set' | readonly string[] | undefined
  constructor (identity?: 'set' | readonly string[]) { this.identity = identity }
  /** For short lists. */
  * [Symbol.iterator] (): Iterator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index) ?? null
  }
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
export type Value = boolean | bigint | number | string | null | Uint | Uint8Array | Instant | Span | TypeValue | URL
  | Items | Dict | Fault | Optional | Opaque | Deferred

export const isDict = (value: Value): value is Dict => typeof value === 'object' && value !== null && 'keys' in value &&
  !(value instanceof Uint8Array) && !(value instanceof URL)

/** A function; undefined stands for an overload that does not exist. The receiver of a method is the first value. */
export type Apply = (values: readonly Value[], meter: Meter) => Value | undefined | Pending<Value | undefined>
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
const hasPairs = (text: string): boolean => text.length > 1 && SURROGATE.test(text)
/** Whether a code point of two code units begins there. */
export const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff

/** The number of code points, which positions count. */
export function lengthOf (text: string): number {
  if (!hasPairs(text)) return text.length
  let count = 0
  for (let at = 0; at < text.length; at++, count++) if (isPair(text, at)) at++
  return count
}

/** Where a code point begins in the string; undefined for one behind its end. */
export function placeOf (text: string, point: number): number | undefined {
  if (!hasPairs(text)) return point <= text.length ? point : undefined
  let at = 0
  for (let left = point; left > 0; left--) {
    if (at >= text.length) return undefined
    at += isPair(text, at) ? 2 : 1
  }
  return at
}

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
