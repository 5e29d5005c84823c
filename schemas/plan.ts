/** A declaration prepared for the codecs: computed when a message is first met, kept as long as the message lives. */
import type { Field, Message, Plain, ScalarName, Shape, Special } from './declare.js'
import { BYTES, FIXED64, VARINT } from './protobuf/wire.js'

const ZEROS = { string: '', bool: false, int32: 0, int64: 0, double: 0, bytes: '' } as const

export class PlannedField {
  readonly name: string
  /** `"name":`, as it stands in JSON. */
  readonly key: string
  readonly field: Field
  readonly shape: Shape
  readonly scalar: ScalarName | undefined
  readonly message: Message | undefined
  readonly special: Special | undefined
  readonly pointer: boolean
  /** Written in JSON even when unset. */
  readonly written: boolean
  readonly required: boolean
  readonly number: number
  readonly tag: number
  /** Of the scalar; undefined for messages. */
  readonly zero: string | number | boolean | undefined
  #plan: Plan | undefined

  constructor (name: string, field: Field) {
    const { of } = field
    this.name = name
    this.key = `${JSON.stringify(name)}:`
    this.field = field
    this.shape = field.shape
    this.scalar = typeof of === 'string' ? of : undefined
    this.message = typeof of === 'string' ? undefined : typeof of === 'function' ? of() : of
    this.special = this.message?.special
    this.pointer = field.pointer === true
    this.required = field.required === true
    this.written = this.required || field.written === true
    this.number = field.number ?? 0
    this.tag = this.number << 3 | (this.scalar === undefined || field.shape === 'map' ? BYTES : wireTypeOf(this.scalar))
    this.zero = this.scalar === undefined ? undefined : ZEROS[this.scalar]
  }

  /** Of the nested message. */
  get plan (): Plan {
    if (this.#plan === undefined) {
      if (this.message === undefined) throw new TypeError(`${this.name} holds no message`)
      this.#plan = planOf(this.message)
    }
    return this.#plan
  }

  /** True when an object always has it: a message that is no pointer and no special type. */
  get embedded (): boolean {
    return this.shape === 'one' && this.message !== undefined && this.special === undefined && !this.pointer
  }
}

export function wireTypeOf (scalar: ScalarName): number {
  return scalar === 'string' || scalar === 'bytes' ? BYTES : scalar === 'double' ? FIXED64 : VARINT
}

export interface Plan {
  readonly message: Message
  /** In the order of JSON; inlined messages are replaced by their fields. */
  readonly fields: readonly PlannedField[]
  readonly byName: ReadonlyMap<string, PlannedField>
  /** By falling protobuf number, which is how the writer wants them. */
  readonly descending: readonly PlannedField[]
  readonly byNumber: ReadonlyMap<number, PlannedField>
}

const plans = new WeakMap<Message, Plan>()

export function planOf (message: Message): Plan {
  let plan = plans.get(message)
  if (plan === undefined) {
    const own = Object.entries(message.fields).map(([name, field]) => new PlannedField(name, field))
    const fields = own.flatMap(field => field.shape === 'inline' ? field.plan.fields : [field])
    plan = {
      message,
      fields,
      byName: new Map(fields.map(field => [field.name, field])),
      descending: own.filter(field => field.number !== 0).sort((a, b) => b.number - a.number),
      byNumber: new Map(own.map(field => [field.number, field]))
    }
    plans.set(message, plan)
  }
  return plan
}

/** What an object has when nothing is set: required scalars at zero, embedded messages. */
export function fillRequired (plan: Plan, object: Plain): Plain {
  for (const field of plan.fields) {
    if (object[field.name] !== undefined || field.shape !== 'one') continue
    if (field.embedded) object[field.name] = fillRequired(field.plan, {})
    else if (field.required && !field.pointer && field.zero !== undefined) object[field.name] = field.zero
  }
  return object
}
