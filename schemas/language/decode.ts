/**
 * Decodes plain values (from JSON or YAML) into objects of a declared type. A member of the wrong type is an error; an
 * unknown one is reported and dropped. null, a zero optional scalar and an empty list or map are unset, because
 * protobuf cannot tell them apart. The result shares nothing with the input except raw JSON.
 */
import { Facts, type ScalarName, type Declaration, type Message, type Plain } from './types.js'
import { MismatchError, nameOfType } from './decode-error.js'
import { OF_BODIES, tooManyEntries, tooManyValues, type ValueBounds } from '../codec/json/parse.js'
import { pathText } from '../codec/json/repeated-keys.js'
import { fillRequired, isOfType, planOf, alternativeOf, type PlannedField, type Plan } from './plan.js'
import { canonicalBase64, clone, setMember } from './values.js'

const MAX_UNKNOWN = 100

export interface Decoded<T> {
  readonly object: T
  /** Paths of undeclared members, such as `spec.foo`; at most 100. */
  readonly unknown: string[]
  /** Those that an apply may have, if any. */
  readonly freeForm?: ReadonlySet<string> | undefined
}

/** Findings of server-side apply: members that are not declared, where the schema does not allow any. */
export const undeclaredIn = ({ unknown, freeForm }: Pick<Decoded<unknown>, 'unknown' | 'freeForm'>): string[] =>
  unknown.filter(path => freeForm?.has(path) !== true).map(path => `.${path}: field not declared in schema`)

/**
 * Decodes a value. For a kind, an empty kind or apiVersion is filled in and another one refused. `most` bounds list
 * items and map entries in total: UNBOUNDED for stored objects. @throws DecodeError with the path and the expected type
 */
export function decode<T> (message: Message<T>, value: unknown, most = OF_BODIES): Decoded<T> {
  const decoding = new Decoding(message, most)
  const object = decoding.root(value)
  const { unknown, freeForm } = decoding
  return { object: object as T, unknown, freeForm } // decoded by the declaration of T
}

/** Checks kind and apiVersion against the message, and fills in empty ones. */
export function checkType (
  message: Message, apiVersion: string, kind: string
): { kind: string, apiVersion: string } | undefined {
  const { type } = message[Facts]
  if (type === undefined) return undefined
  if (kind !== '' && kind !== type.kind) {
    throw new MismatchError(`kind: expected ${JSON.stringify(type.kind)}`, clip(kind))
  }
  const asSent = apiVersion !== '' && (type.anyVersion || apiVersion === type.alsoAs)
  if (apiVersion !== '' && apiVersion !== type.apiVersion && !asSent) {
    throw new MismatchError(`apiVersion: expected ${JSON.stringify(type.apiVersion)}`, clip(apiVersion))
  }
  return { kind: type.kind, apiVersion: asSent ? apiVersion : type.apiVersion }
}

const clip = (text: string) => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

/** Replaces a value that must not appear in an error message. */
const BAD_TEXT = Symbol('text')

class Decoding {
  readonly unknown: string[] = []
  freeForm: Set<string> | undefined
  readonly #message: Message
  readonly #path: Array<string | number> = []

  readonly #most: ValueBounds
  #values = 0
  #entries = 0

  constructor (message: Message, most: ValueBounds) {
    this.#message = message
    this.#most = most
  }

  root (value: unknown): unknown {
    const facts = this.#message[Facts]
    const { special, type } = facts
    if (special !== undefined) return this.#special(facts, value)
    if (facts.alternatives !== undefined) return this.#alternative(planOf(this.#message), value)
    // as upstream: a null body is an empty object
    if (value === null && facts.fields['metadata'] !== undefined) return this.root({})
    const plan = planOf(this.#message)
    if (type === undefined) return this.#object(plan, value)
    const source = this.#plain(value)
    const types = checkType(this.#message, this.#typeMember(source, 'apiVersion'), this.#typeMember(source, 'kind'))
    return this.#object(plan, value, types)
  }

  #typeMember (source: Plain, name: string): string {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    if (value === undefined || value === null) return ''
    if (typeof value !== 'string') throw new MismatchError(`${name}: expected a string`, nameOfType(value))
    return value
  }

  #refuse (expected: string, value: unknown): never {
    const path = pathText(this.#path)
    const { name, type } = this.#message[Facts]
    const got = value === BAD_TEXT
      ? 'other text'
      : typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
        ? `${nameOfType(value)} (${clip(String(value))})`
        : nameOfType(value)
    const place = `${type?.kind ?? name}${path === '' ? '' : path.startsWith('[') ? path : `.${path}`}`
    throw new MismatchError(`${place}: expected ${expected}`, got, nameOfType(value))
  }

  #plain (value: unknown): Plain {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#refuse('an object', value)
    return value as Plain // an object with string keys
  }

  #object (plan: Plan, value: unknown, type?: Plain): Plain {
    const source = this.#plain(value)
    const target: Plain = type ?? {}
    let known = 0
    if (plan.message.type !== undefined) {
      for (const name of ['kind', 'apiVersion']) {
        if (source[name] === undefined) continue
        known++
        if (type === undefined && typeof source[name] === 'string' && source[name] !== '') target[name] = source[name]
      }
    }
    for (const field of plan.fields) {
      const member = source[field.jsonName]
      if (member === undefined) continue
      known++
      if (member === null) {
        if (field.nullable) target[field.name] = null
        continue
      }
      this.#path.push(field.jsonName)
      const decoded = this.#field(field, member)
      this.#path.pop()
      if (decoded !== undefined) target[field.name] = decoded
    }
    if (known !== Object.keys(source).length) {
      const { preserveUnknown } = plan.message
      if (preserveUnknown !== false) keepUnknown(plan, source, target, preserveUnknown)
      if (preserveUnknown !== true) this.#reportUnknown(plan, source, preserveUnknown)
    }
    return fillRequired(plan, target)
  }

  #reportUnknown (plan: Plan, source: Plain, kept: false | ReadonlySet<string>): void {
    for (const name of Object.keys(source)) {
      if (!isUnknown(plan, name) || (kept !== false && kept.has(name))) continue
      if (this.unknown.length >= MAX_UNKNOWN) return
      const path = pathText([...this.#path, name])
      this.unknown.push(path)
      if (plan.message.freeForm) (this.freeForm ??= new Set()).add(path)
    }
  }

  #field (field: PlannedField, value: unknown): unknown {
    if (field.anyType) {
      const isKept = !isOfType(field, value)
      if (isKept || field.special !== undefined) value = isOpen(field) ? value : this.#pruned(value)
      if (isKept) return value
    }
    switch (field.shape) {
      case 'list': {
        if (!Array.isArray(value)) return this.#refuse('a list', value)
        if (value.length === 0 && !field.pointer && !field.keepsEmpty) return undefined
        return value.map((item, index) => {
          this.#path.push(index)
          const decoded = this.#element(field, item)
          this.#path.pop()
          return decoded
        })
      }
      case 'map': {
        // No prototype: any key is data.
        const target: Plain = Object.create(null)
        const source = this.#plain(value)
        const keys = Object.keys(source)
        if (keys.length === 0 && !field.pointer && !field.keepsEmpty) return undefined
        for (const key of keys) {
          if (source[key] === null && field.anyType && field.element?.nullable === false &&
            field.element.field.default === undefined) continue
          this.#path.push(key)
          this.#wellFormed(key, BAD_TEXT)
          target[key] = this.#element(field, source[key])
          this.#path.pop()
        }
        return target
      }
      default: {
        const decoded = field.scalar === undefined ? this.#nested(field, value) : this.#scalar(field.scalar, value)
        return decoded === field.zero && !field.pointer && !field.required ? undefined : decoded
      }
    }
  }

  /** A value where its schema has no object: none of its members is declared. */
  #pruned (value: unknown): unknown {
    if (Array.isArray(value)) {
      return value.map((item, index) => {
        this.#path.push(index)
        const pruned = this.#pruned(item)
        this.#path.pop()
        return pruned
      })
    }
    if (typeof value !== 'object' || value === null) return value
    for (const name of Object.keys(value)) {
      if (this.unknown.length >= MAX_UNKNOWN) break
      this.unknown.push(pathText([...this.#path, name]))
    }
    return {}
  }

  /** An element of a list or map; null is the zero value. */
  #element (field: PlannedField, value: unknown): unknown {
    if (++this.#values > this.#most.values) throw tooManyValues(this.#most.values)
    if (field.keyed && ++this.#entries > this.#most.entries) throw tooManyEntries(this.#most.entries)
    if (field.element !== undefined) {
      if (value === null && field.element.nullable) return null
      const { default: preset } = field.element.field
      return value === null && preset !== undefined ? clone(preset) : this.#field(field.element, value)
    }
    if (field.scalar !== undefined) {
      return value === null || value === undefined ? field.zero : this.#scalar(field.scalar, value)
    }
    if (value === null) {
      return field.special !== undefined ? field.zero : field.alternatives ? undefined : fillRequired(field.plan, {})
    }
    return this.#nested(field, value)
  }

  #nested (field: PlannedField, value: unknown): unknown {
    if (field.alternatives) return this.#alternative(field.plan, value)
    return field.special === undefined ? this.#object(field.plan, value) : this.#special(field.plan.message, value)
  }

  /** Decodes by the alternative that takes this JSON type. */
  #alternative (plan: Plan, value: unknown): unknown {
    const chosen = alternativeOf(plan, value)
    return chosen === undefined ? this.#refuse(plan.fields.map(formOf).join(' or '), value) : this.#field(chosen, value)
  }

  #special (message: Declaration, value: unknown): unknown {
    return message.special?.decode(value, expected => this.#refuse(expected, value))
  }

  /** A lone surrogate has no UTF-8 form: two different strings would be stored as one. */
  #wellFormed (text: string, value: unknown): string {
    return text.isWellFormed() ? text : this.#refuse('Unicode text without lone surrogates', value)
  }

  #scalar (scalar: ScalarName, value: unknown): unknown {
    switch (scalar) {
      case 'string': return typeof value === 'string' ? this.#wellFormed(value, value) : this.#refuse('a string', value)
      case 'bool': return typeof value === 'boolean' ? value : this.#refuse('true or false', value)
      case 'bytes': {
        if (typeof value !== 'string') return this.#refuse('base64 text', value)
        // The error must not quote the text, which may be secret.
        return canonicalBase64(value) ?? this.#refuse('base64 text (standard alphabet, with padding)', BAD_TEXT)
      }
      case 'double':
        if (typeof value === 'bigint') return this.#scalar(scalar, Number(value))
        return typeof value === 'number' && Number.isFinite(value) ? value : this.#refuse('a number', value)
      case 'int32':
        if (typeof value === 'bigint') return this.#refuse('an integer of 32 bits', value)
        if (typeof value !== 'number' || !Number.isInteger(value)) return this.#refuse('an integer', value)
        return (value | 0) === value ? value + 0 : this.#refuse('an integer of 32 bits', value)
      case 'int64':
        if (typeof value === 'bigint') {
          return BigInt.asIntN(64, value) === value ? value : this.#refuse('an integer of 64 bits', value)
        }
        if (typeof value !== 'number' || !Number.isInteger(value)) return this.#refuse('an integer', value)
        return Number.isSafeInteger(value) ? value + 0 : this.#refuse('an integer of 64 bits', value)
    }
  }
}

/** Whether undeclared members are kept, whatever the value is. */
const isOpen = (field: PlannedField): boolean => field.special === undefined
  ? field.shape === 'one' && field.plan.message.preserveUnknown === true
  : field.special.open === true

const formOf = ({ shape, message }: PlannedField): string =>
  shape === 'list' ? 'a list' : message === undefined ? 'true or false' : 'an object'

/** Copies undeclared members. */
function keepUnknown (plan: Plan, source: Plain, target: Plain, kept: true | ReadonlySet<string>): void {
  for (const name of Object.keys(source)) {
    if (isUnknown(plan, name) && (kept === true || kept.has(name))) setMember(target, name, source[name])
  }
}

function isUnknown (plan: Plan, name: string): boolean {
  return !plan.byName.has(name) && (plan.message.type === undefined || (name !== 'kind' && name !== 'apiVersion'))
}
