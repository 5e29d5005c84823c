/**
 * JSON patch (RFC 6902): parses a patch with limits, then applies it. Paths reach only own members, so none leaves the
 * document. As upstream, negative list indexes count from the end, `test` for null succeeds on a missing member,
 * `replace` adds one, so that fields omitted when empty, such as `unschedulable: false`, can be replaced, and the whole
 * document can be tested and replaced, but not added, removed, copied or moved.
 */
import { clone } from '../../schemas/language/values.js'
import { MAX_VALUES } from '../../schemas/limits.js'
import { badRequest, StatusError, tooLarge } from '../../schemas/status.js'
import type { Steps } from '../../schemas/steps.js'
import { quote } from '../../schemas/quote.js'

const MAX_OPERATIONS = 10_000
/** Copies can double a document each time, so what they add is limited like a body. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024
/** List items and object members that copies may add, which is also the limit for an object. */
const MAX_COPIED_VALUES = MAX_VALUES
/** List items and object members that tests and copies may visit, and parts of pointers. */
const MAX_STEPS = 1_000_000
/** Steps between two checks of the clock: a fraction of a millisecond. */
const STEPS_PER_CHECK = 2000
/** Fixed cost of an operation, besides the values it visits. */
const STEPS_PER_OPERATION = 100
const MAX_DEPTH = 1000
/** Bytes of a path. No member of an object that is served needs more. */
const MAX_POINTER_BYTES = 8 * 1024
/** Characters of a path in error messages. */
const MAX_QUOTED = 200

type Name = 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
const NAMES: ReadonlySet<unknown> = new Set<Name>(['add', 'remove', 'replace', 'move', 'copy', 'test'])
const WITH_FROM: ReadonlySet<unknown> = new Set<Name>(['move', 'copy'])
/** Operations on the whole document. */
const ON_WHOLE: ReadonlySet<unknown> = new Set<Name>(['replace', 'test'])

type Pointer = readonly string[]

export interface JsonPatchOperation {
  readonly op: Name
  /** Why no object fits it; undefined for a well-formed operation. */
  readonly fault: string | undefined
  /** The operation as error messages quote it. */
  readonly text: string
  /** Valid JSON pointers; their parts are made when the operation is applied, because there may be millions. */
  readonly path: string
  readonly from: string
  readonly value: unknown
}

/**
 * As upstream, what is wrong with an operation of text members is found only when it is applied, after those before it,
 * and a value that is left out is null.
 * @throws StatusError 400 for what is no list of operations, 413 for too many operations or too long pointers
 */
export function parseJsonPatch (value: unknown): JsonPatchOperation[] {
  if (!Array.isArray(value)) throw badRequest('a JSON patch must be a list of operations')
  if (value.length > MAX_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`)
  }
  return value.map((operation: unknown, at) => {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
      throw badRequest(`JSON patch operation ${at} must be an object`)
    }
    const { op, path, from, value = null } = operation as Record<string, unknown>
    const [name, pointed, source] = [text(op, at, 'op'), pointer(path, at, 'path'), pointer(from, at, 'from')]
    const fault = !NAMES.has(name)
      ? `"op" must be one of ${[...NAMES].join(', ')}`
      : malformed(pointed, 'path', ON_WHOLE.has(name)) ??
        (WITH_FROM.has(name) ? malformed(source, 'from', false) : undefined)
    return {
      op: name as Name, // as there is no fault
      fault,
      text: `${name.slice(0, MAX_QUOTED)} ${pointed.slice(0, MAX_QUOTED)}`,
      path: pointed,
      from: source,
      value
    }
  })
}

/** What stands for a member that is left out, and no pointer can be. */
const NONE = '-'

function text (value: unknown, at: number, member: string): string {
  if (value === undefined || value === null) return NONE
  if (typeof value !== 'string') throw badRequest(`JSON patch operation ${at}: ${JSON.stringify(member)} must be text`)
  return value
}

function pointer (value: unknown, at: number, member: string): string {
  const pointed = text(value, at, member)
  if (pointed.length > MAX_POINTER_BYTES || Buffer.byteLength(pointed) > MAX_POINTER_BYTES) {
    throw tooLarge(`JSON patch operation ${at}: ${JSON.stringify(member)} has more than ${MAX_POINTER_BYTES} bytes`)
  }
  return pointed
}

function malformed (pointed: string, member: string, mayBeWhole: boolean): string | undefined {
  if (pointed === '' && !mayBeWhole) {
    return `${JSON.stringify(member)} is the whole object, which can only be tested and replaced`
  }
  return (pointed !== '' && !pointed.startsWith('/')) || /~(?![01])/.test(pointed)
    ? `${JSON.stringify(member)} must be a JSON pointer such as /metadata/labels/app`
    : undefined
}

/**
 * Changes `document` but never the operations, which a retry applies again.
 * @throws StatusError 422 if an operation does not fit the object, a failed `test` included; 413 if the patch takes too
 * long
 */
export function * applyJsonPatch (document: unknown, operations: readonly JsonPatchOperation[]): Steps<unknown> {
  const patching = new JsonPatcher(document)
  for (let at = 0; at < operations.length; at++) {
    const operation = operations[at] as JsonPatchOperation // below the length
    try {
      patching.apply(operation)
    } catch (error) {
      if (!(error instanceof Misfit)) throw error
      throw new StatusError(
        'Invalid', `the JSON patch does not fit the object: operation ${at}, ${operation.text}: ${error.message}`,
        { cause: error }
      )
    }
    if (patching.isDue()) yield
  }
  return patching.document
}

/** Explains why an operation does not fit the document. */
class Misfit extends Error {}
class FailedTest extends Misfit {}

/** Whether a patch was refused because one of its tests failed. */
export const isFailedTest = (error: unknown): boolean => error instanceof Error && error.cause instanceof FailedTest

const isParent = (value: unknown): value is object => typeof value === 'object' && value !== null

class JsonPatcher {
  document: unknown
  #copied = 0
  #copiedValues = 0
  /** Remaining steps, and those until the next check of the clock. */
  #remaining = MAX_STEPS
  #untilCheck = STEPS_PER_CHECK

  constructor (document: unknown) { this.document = document }

  /** Called after each operation; returns whether a step is done. */
  isDue (): boolean {
    this.#untilCheck -= STEPS_PER_OPERATION
    if (this.#untilCheck > 0) return false
    this.#untilCheck = STEPS_PER_CHECK
    return true
  }

  /** @throws StatusError 413 */
  #step (count = 1): void {
    this.#untilCheck -= count
    if ((this.#remaining -= count) < 0) throw tooLarge(`the JSON patch goes through more than ${MAX_STEPS} values`)
  }

  #parts (pointer: string): Pointer {
    const parts = pointer.split('/').slice(1)
    this.#step(parts.length)
    return pointer.includes('~') ? parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~')) : parts
  }

  apply ({ op, fault, path: at, from: source, value }: JsonPatchOperation): void {
    if (fault !== undefined) throw new Misfit(fault)
    const path = this.#parts(at)
    const from = WITH_FROM.has(op) ? this.#parts(source) : []
    switch (op) {
      case 'add': return this.#put(path, clone(value), true)
      case 'replace': return this.#put(path, clone(value), false)
      case 'remove': this.#remove(path); return
      case 'copy': {
        const moved = this.#get(from)
        this.#copied += this.#bytesOf(moved, MAX_COPIED_BYTES - this.#copied, 0)
        return this.#put(path, clone(moved), true)
      }
      case 'move':
        if (from.length < path.length && from.every((part, at) => part === path[at])) {
          throw new Misfit('an object cannot be moved into itself')
        }
        return this.#put(path, this.#remove(from), true)
      case 'test':
        if (!this.#same(this.#find(path) ?? null, value)) throw new FailedTest('the test failed')
    }
  }

  /** Undefined if the path does not exist. */
  #find (path: Pointer): unknown {
    let value = this.document
    for (const key of path) {
      if (!isParent(value)) return undefined
      value = Array.isArray(value)
        ? value[indexOf(key, value.length)]
        : Object.hasOwn(value, key)
          ? (value as Record<string, unknown>)[key]
          : undefined
    }
    return value
  }

  #get (path: Pointer): unknown {
    const value = this.#find(path)
    if (value === undefined) throw new Misfit(`there is nothing at ${quote(`/${path.join('/')}`)}`)
    return value
  }

  #parent (path: Pointer): object {
    const parent = this.#find(path.slice(0, -1))
    if (!isParent(parent)) throw new Misfit('there is no object or list to change at that path')
    return parent
  }

  #put (path: Pointer, value: unknown, add: boolean): void {
    const key = path.at(-1)
    if (key === undefined) {
      if (!isParent(value)) throw new Misfit('the object as a whole can only be replaced by an object')
      this.document = value
      return
    }
    const parent = this.#parent(path)
    if (Array.isArray(parent)) {
      const index = add && key === '-' ? parent.length : indexOf(key, parent.length + (add ? 1 : 0))
      if (index < 0) throw new Misfit(`the list has no place ${quote(key)}`)
      if (add) parent.splice(index, 0, value)
      else parent[index] = value
      return
    }
    if (key ===
      '__proto__') Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
    else (parent as Record<string, unknown>)[key] = value
  }

  #remove (path: Pointer): unknown {
    const key = path.at(-1) as string // not the whole document
    const parent = this.#parent(path)
    if (Array.isArray(parent)) {
      const index = indexOf(key, parent.length)
      if (index < 0) throw new Misfit(`the list has no item ${quote(key)}`)
      return parent.splice(index, 1)[0]
    }
    if (!Object.hasOwn(parent, key)) throw new Misfit('there is nothing to remove at that path')
    const removed = (parent as Record<string, unknown>)[key]
    Reflect.deleteProperty(parent, key)
    return removed
  }

  /** Approximate length of the value as JSON. */
  #bytesOf (value: unknown, max: number, depth: number): number {
    if (depth > MAX_DEPTH) throw new Misfit(`the copies nest more than ${MAX_DEPTH} levels deep`)
    this.#step()
    if (++this.#copiedValues > MAX_COPIED_VALUES) {
      throw new Misfit(`the copies add up to more than ${MAX_COPIED_VALUES} values`)
    }
    let bytes = 1
    if (typeof value === 'string') bytes += value.length + 2
    else if (isParent(value)) {
      for (const key of Object.keys(value)) {
        bytes += (Array.isArray(value) ? 1 : key.length + 4) +
          this.#bytesOf((value as Record<string, unknown>)[key], max - bytes, depth + 1)
        if (bytes > max) break
      }
    } else bytes += 4
    if (bytes > max) throw new Misfit('the copies add up to more than 3 MiB')
    return bytes
  }

  /** Equality of JSON values. */
  #same (one: unknown, other: unknown): boolean {
    this.#step()
    if (!isParent(one) || !isParent(other)) return one === other
    if (Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    if (keys.length !== Object.keys(other).length) return false
    return keys.every(key => Object.hasOwn(other, key) &&
      this.#same((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]))
  }
}

/**
 * -1 if the key is not an index below `length`. A sign and leading zeros are valid; negative indexes count from the
 * end.
 */
function indexOf (key: string, length: number): number {
  if (!/^[+-]?\d{1,9}$/.test(key)) return -1
  const index = Number(key)
  return index >= length || index < -length ? -1 : index < 0 ? index + length : index
}
