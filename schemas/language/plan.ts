/** Codec plans: what decoding and encoding derive from a declaration, computed at first use and cached. */
import {
  Facts, type ScalarName, type Declaration, type FieldFacts, type Special, type Shape, type Message, type Plain
} from './types.js'
import { BYTES, FIXED64, VARINT } from '../codec/protobuf/wire.js'
import { oncePer } from '../once-per.js'

const ZEROS = { string: '', bool: false, int32: 0, int64: 0, double: 0, bytes: '' } as const

export class PlannedField {
  readonly name: string
  readonly jsonName: string
  /** `"name":`, as in JSON. */
  readonly key: string
  readonly field: FieldFacts
  readonly shape: Shape
  readonly scalar: ScalarName | undefined
  readonly message: Declaration | undefined
  readonly special: Special | undefined
  /** The message is a union of its fields. */
  readonly alternatives: boolean
  /** The element if that is a list or map again. */
  readonly element: PlannedField | undefined
  readonly nullable: boolean
  /** Values of another type are kept: see `isOfType`. */
  readonly anyType: boolean
  readonly pointer: boolean
  /** Written in JSON even when unset. */
  readonly written: boolean
  /** Not written in JSON when unset, although its type would be. */
  readonly omitted: boolean
  /** A sent empty list or map gets an owner, although it is never stored. */
  readonly keepsEmpty: boolean
  readonly required: boolean
  readonly number: number
  readonly tag: number
  /** Zero of the scalar or special type; undefined for other messages. */
  readonly zero: string | number | boolean | undefined
  /** A map, or a list whose items are owned one by one. */
  readonly keyed: boolean
  #plan: Plan | undefined
  readonly #omits: boolean

  constructor (name: string, field: FieldFacts, omits: boolean) {
    const { of } = field
    this.name = name
    this.jsonName = field.jsonName ?? name
    this.key = `${JSON.stringify(this.jsonName)}:`
    this.field = field
    this.shape = field.shape
    this.keyed = field.shape === 'map' ||
      (field.shape === 'list' && (field.listType === undefined
        ? field.patchStrategy?.split(',').includes('merge') === true
        : field.listType !== 'atomic'))
    this.scalar = typeof of === 'string' ? of : undefined
    const facts = typeof of === 'string' ? undefined : (typeof of === 'function' ? of() : of)[Facts]
    this.message = facts === undefined || 'shape' in facts ? undefined : facts
    this.element = facts !== undefined && 'shape' in facts ? new PlannedField(name, facts, omits) : undefined
    this.nullable = field.nullable === true
    this.anyType = field.anyType === true
    this.special = this.message?.special
    this.alternatives = this.message?.alternatives !== undefined
    this.pointer = field.pointer === true
    this.required = field.required === true
    this.written = this.required || field.written === true
    this.omitted = omits && field.mayBeOmitted === true
    this.#omits = omits
    this.keepsEmpty = field.keepsEmpty === true ||
      (this.written && !this.pointer && (field.shape === 'list' || field.shape === 'map'))
    this.number = field.number ?? 0
    this.tag = this.number << 3 | (this.scalar === undefined || field.shape === 'map' ? BYTES : wireTypeOf(this.scalar))
    this.zero = this.scalar === undefined ? this.special?.zero : ZEROS[this.scalar]
  }

  /** Plan of the nested message. */
  get plan (): Plan {
    if (this.#plan === undefined) {
      if (this.message === undefined) throw new TypeError(`${this.name} holds no message`)
      this.#plan = planFor(this.message, this.#omits)
    }
    return this.#plan
  }

  /** The field itself, or the innermost element of nested lists. */
  get innermost (): PlannedField { return this.element === undefined ? this : this.element.innermost }

  /** True for a structure that is not a pointer: objects always contain it. */
  get embedded (): boolean {
    return this.shape === 'one' && this.message !== undefined && this.special === undefined && !this.alternatives &&
      !this.pointer
  }
}

/** Whether a value has the JSON type of a list, map or message. */
export const isOfType = ({ shape, message, special }: PlannedField, value: unknown): boolean =>
  shape === 'list'
    ? Array.isArray(value)
    : (shape === 'one' && (message === undefined || special !== undefined)) ||
    (typeof value === 'object' && value !== null && !Array.isArray(value))

export function wireTypeOf (scalar: ScalarName): number {
  return scalar === 'string' || scalar === 'bytes' ? BYTES : scalar === 'double' ? FIXED64 : VARINT
}

export interface Plan {
  readonly message: Declaration
  /** Messages whose rules apply: inlined ones first, from the innermost outwards, then the message itself. */
  readonly messages: readonly Declaration[]
  /** In JSON order, with inlined messages replaced by their fields. */
  readonly fields: readonly PlannedField[]
  /** By their names in JSON. */
  readonly byName: ReadonlyMap<string, PlannedField>
  /** By descending protobuf number, as the writer needs them. */
  readonly descending: readonly PlannedField[]
  readonly byNumber: ReadonlyMap<number, PlannedField>
}

const writingPlan = oncePer((message: Declaration) => makePlan(message, false))
const omittingPlan = oncePer((message: Declaration) => makePlan(message, true))

/** @param omits whether JSON leaves out the fields that may be, at any depth */
export const planOf = (message: Message, omits = false): Plan => planFor(message[Facts], omits)

export const planFor = (message: Declaration, omits = false): Plan =>
  omits ? omittingPlan(message) : writingPlan(message)

function makePlan (message: Declaration, omits: boolean): Plan {
  const own = Object.entries(message.fields).map(([name, field]) => new PlannedField(name, field[Facts], omits))
  const fields = own.flatMap(field => field.shape === 'inline' ? field.plan.fields : [field])
  return {
    message,
    messages: [...own.flatMap(field => field.shape === 'inline' ? field.plan.messages : []), message],
    fields,
    byName: new Map(fields.map(field => [field.jsonName, field])),
    descending: own.filter(field => field.number !== 0).sort((a, b) => b.number - a.number),
    byNumber: new Map(own.map(field => [field.number, field]))
  }
}

/** The alternative of a union that has a value of this JSON type. */
export function alternativeOf ({ fields }: Plan, value: unknown): PlannedField | undefined {
  if (Array.isArray(value)) return fields.find(({ shape }) => shape === 'list')
  if (typeof value === 'boolean') return fields.find(({ scalar, shape }) => scalar === 'bool' && shape === 'one')
  return typeof value === 'object' && value !== null
    ? fields.find(({ message, shape }) => message !== undefined && shape === 'one')
    : undefined
}

/**
 * The field at a path such as `status.conditions`; undefined if the message does not declare it, as the schema of a
 * custom type may leave out `status`.
 */
export function fieldAt (message: Message, path: string): PlannedField | undefined {
  let field: PlannedField | undefined
  for (const [depth, name] of path.split('.').entries()) {
    field = depth === 0 ? planOf(message).byName.get(name) : field?.plan.byName.get(name)
  }
  return field
}

/** The value of a field in an empty object; undefined when absent. */
export function emptyField (message: Message, name: string): unknown {
  const field = planOf(message).byName.get(name)
  return field?.embedded === true ? fillRequired(field.plan, {}) : undefined
}

/** Plans of nested messages; recursive types occur within themselves. */
function plansBelow ({ fields }: Plan): Plan[] {
  return fields.flatMap(({ innermost }) =>
    innermost.message !== undefined && innermost.special === undefined ? [innermost.plan] : [])
}

/**
 * Whether a predicate is true of a plan or of any plan below it. Evaluates everything reachable and caches only
 * complete answers: within a cycle of recursive types, a partial "no" would be wrong.
 */
export function anywhere (holds: (plan: Plan) => boolean): (plan: Plan) => boolean {
  const known = new WeakMap<Plan, boolean>()
  return plan => {
    const answer = known.get(plan)
    if (answer !== undefined) return answer
    const reached = new Set([plan])
    for (const current of reached) { // grows during the loop
      if (known.get(current) ?? holds(current)) {
        known.set(plan, true)
        return true
      }
      for (const below of plansBelow(current)) reached.add(below)
    }
    for (const current of reached) known.set(current, false)
    return false
  }
}

/** The fields of a plan that satisfy a predicate; most walks visit few. */
export const fieldsThat = (concerns: (field: PlannedField) => boolean): (plan: Plan) => readonly PlannedField[] =>
  oncePer(({ fields }: Plan) => fields.filter(concerns))

const alwaysThere = fieldsThat(({ shape, embedded, required, pointer, zero }) => shape === 'one' &&
  (embedded || (required && !pointer && zero !== undefined)))

/** Fills in what an object always has: required scalars at zero, embedded messages. */
export function fillRequired (plan: Plan, object: Plain): Plain {
  for (const field of alwaysThere(plan)) {
    if (object[field.name] === undefined) {
      object[field.name] = field.embedded ? fillRequired(field.plan, {}) : field.zero
    }
  }
  return object
}
