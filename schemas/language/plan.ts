/** A declaration prepared for the codecs: computed when a message is first met, kept as long as the message lives. */
import { Facts } from './types.js'
import type { Declaration, FieldFacts, Message, Plain, ScalarName, Shape, Special } from './types.js'
import { BYTES, FIXED64, VARINT } from '../codec/protobuf/wire.js'

const ZEROS = { string: '', bool: false, int32: 0, int64: 0, double: 0, bytes: '' } as const

export class PlannedField {
  readonly name: string
  /** `"name":`, as it stands in JSON. */
  readonly key: string
  readonly field: FieldFacts
  readonly shape: Shape
  readonly scalar: ScalarName | undefined
  readonly message: Declaration | undefined
  readonly special: Special | undefined
  /** True where the message is a choice between its fields. */
  readonly alternatives: boolean
  /** What a list or map holds where that is a list or map again. */
  readonly element: PlannedField | undefined
  readonly nullable: boolean
  readonly pointer: boolean
  /** Written in JSON even when unset. */
  readonly written: boolean
  /** A list or map that says something when it is sent empty, though it is never stored so: whoever sent it owns it. */
  readonly heardEmpty: boolean
  readonly required: boolean
  readonly number: number
  readonly tag: number
  /** Of the scalar, or of a special type that has one; undefined for other messages. */
  readonly zero: string | number | boolean | undefined
  /** Its entries or items are found by name: a map, or a list that is owned item by item. */
  readonly keyed: boolean
  #plan: Plan | undefined

  constructor (name: string, field: FieldFacts) {
    const { of } = field
    this.name = name
    this.key = `${JSON.stringify(name)}:`
    this.field = field
    this.shape = field.shape
    this.keyed = field.shape === 'map' || (field.shape === 'list' && (field.listType === undefined ? field.patchStrategy?.split(',').includes('merge') === true : field.listType !== 'atomic'))
    this.scalar = typeof of === 'string' ? of : undefined
    const facts = typeof of === 'string' ? undefined : (typeof of === 'function' ? of() : of)[Facts]
    this.message = facts === undefined || 'shape' in facts ? undefined : facts
    this.element = facts !== undefined && 'shape' in facts ? new PlannedField(name, facts) : undefined
    this.nullable = field.nullable === true
    this.special = this.message?.special
    this.alternatives = this.message?.alternatives !== undefined
    this.pointer = field.pointer === true
    this.required = field.required === true
    this.written = this.required || field.written === true
    this.heardEmpty = field.heardEmpty === true || (this.written && !this.pointer && (field.shape === 'list' || field.shape === 'map'))
    this.number = field.number ?? 0
    this.tag = this.number << 3 | (this.scalar === undefined || field.shape === 'map' ? BYTES : wireTypeOf(this.scalar))
    this.zero = this.scalar === undefined ? this.special?.zero : ZEROS[this.scalar]
  }

  /** Of the nested message. */
  get plan (): Plan {
    if (this.#plan === undefined) {
      if (this.message === undefined) throw new TypeError(`${this.name} holds no message`)
      this.#plan = planFor(this.message)
    }
    return this.#plan
  }

  /** Itself, or what lists of lists hold in the end. */
  get innermost (): PlannedField { return this.element === undefined ? this : this.element.innermost }

  /** True when an object always has it: a message of fields that is no pointer. */
  get embedded (): boolean {
    return this.shape === 'one' && this.message !== undefined && this.special === undefined && !this.alternatives && !this.pointer
  }
}

export function wireTypeOf (scalar: ScalarName): number {
  return scalar === 'string' || scalar === 'bytes' ? BYTES : scalar === 'double' ? FIXED64 : VARINT
}

export interface Plan {
  readonly message: Declaration
  /** Whose rules hold for an object of it: the messages it inlines, the inner before the outer, and last itself. */
  readonly messages: readonly Declaration[]
  /** In the order of JSON; inlined messages are replaced by their fields. */
  readonly fields: readonly PlannedField[]
  readonly byName: ReadonlyMap<string, PlannedField>
  /** By falling protobuf number, which is how the writer wants them. */
  readonly descending: readonly PlannedField[]
  readonly byNumber: ReadonlyMap<number, PlannedField>
}

const plans = new WeakMap<Declaration, Plan>()

export const planOf = (message: Message): Plan => planFor(message[Facts])

export function planFor (message: Declaration): Plan {
  let plan = plans.get(message)
  if (plan === undefined) {
    const own = Object.entries(message.fields).map(([name, field]) => new PlannedField(name, field[Facts]))
    const fields = own.flatMap(field => field.shape === 'inline' ? field.plan.fields : [field])
    plan = {
      message,
      messages: [...own.flatMap(field => field.shape === 'inline' ? field.plan.messages : []), message],
      fields,
      byName: new Map(fields.map(field => [field.name, field])),
      descending: own.filter(field => field.number !== 0).sort((a, b) => b.number - a.number),
      byNumber: new Map(own.map(field => [field.number, field]))
    }
    plans.set(message, plan)
  }
  return plan
}

/** Of a choice between fields, the one whose value this is. */
export function alternativeOf ({ fields }: Plan, value: unknown): PlannedField | undefined {
  if (Array.isArray(value)) return fields.find(({ shape }) => shape === 'list')
  if (typeof value === 'boolean') return fields.find(({ scalar, shape }) => scalar === 'bool' && shape === 'one')
  return typeof value === 'object' && value !== null ? fields.find(({ message, shape }) => message !== undefined && shape === 'one') : undefined
}

/** The field at a path such as `status.conditions`. @throws TypeError when there is none */
export function fieldAt (message: Message, path: string): PlannedField {
  const names = path.split('.')
  let field: PlannedField | undefined
  for (const name of names) field = (field === undefined ? planOf(message) : field.plan).byName.get(name)
  if (field === undefined) throw new TypeError(`${message[Facts].name} has no field ${path}`)
  return field
}

/** A field of a message as it is in an object in which nothing is set; undefined where it is not there then. */
export function emptyField (message: Message, name: string): unknown {
  const field = planOf(message).byName.get(name)
  return field?.embedded === true ? fillRequired(field.plan, {}) : undefined
}

/** Of the messages below, each of which may be met within itself. */
function plansBelow ({ fields }: Plan): Plan[] {
  return fields.flatMap(({ innermost }) => innermost.message !== undefined && innermost.special === undefined ? [innermost.plan] : [])
}

/**
 * Whether `holds` is true of a plan or of any below it. Asked of everything that can be reached, never of a part of a cycle:
 * what is not known yet of types that hold each other is not 'no'. Only whole answers are kept.
 */
export function anywhere (holds: (plan: Plan) => boolean): (plan: Plan) => boolean {
  const known = new WeakMap<Plan, boolean>()
  return plan => {
    const answer = known.get(plan)
    if (answer !== undefined) return answer
    const reached = new Set([plan])
    for (const each of reached) { // grows while it is walked
      if (known.get(each) ?? holds(each)) {
        known.set(plan, true)
        return true
      }
      for (const below of plansBelow(each)) reached.add(below)
    }
    for (const each of reached) known.set(each, false)
    return false
  }
}

/** What follows from a plan, found once. */
export function perPlan<T extends object> (find: (plan: Plan) => T): (plan: Plan) => T {
  const known = new WeakMap<Plan, T>()
  return plan => {
    let found = known.get(plan)
    if (found === undefined) known.set(plan, found = find(plan))
    return found
  }
}

/** Of a plan's fields those that something concerns: most walks have to do with few of them. */
export const fieldsThat = (concerns: (field: PlannedField) => boolean): (plan: Plan) => readonly PlannedField[] => perPlan(({ fields }) => fields.filter(concerns))

const alwaysThere = fieldsThat(({ shape, embedded, required, pointer, zero }) => shape === 'one' && (embedded || (required && !pointer && zero !== undefined)))

/** What an object has when nothing is set: required scalars at zero, embedded messages. */
export function fillRequired (plan: Plan, object: Plain): Plain {
  for (const field of alwaysThere(plan)) {
    if (object[field.name] === undefined) object[field.name] = field.embedded ? fillRequired(field.plan, {}) : field.zero
  }
  return object
}
