/**
 * Fields that feature gates bring (`gate` of their options). While its gate is off, a field is dropped from what
 * clients send unless the stored object has it; defaults that depend on a gate are added and removed here.
 */
import type { Gates } from '../gates.js'
import { anywhere, isOfType, perPlan, planOf, type Plan, type PlannedField } from './plan.js'
import type { FieldGate, Message, Plain } from './types.js'
import { clone, sameValue } from './values.js'

const DROPPED = Symbol('dropped')

/** Whether a field of the object was dropped. Defaults then do not replace it. */
export const lacksDropped = (object: object): boolean => DROPPED in object

interface GatedField extends FieldGate { readonly field: PlannedField }

const gateOf = ({ field: { gate } }: PlannedField): FieldGate | undefined =>
  typeof gate === 'string' ? { name: gate } : gate

const own = perPlan(({ fields }): readonly GatedField[] => fields.flatMap(field => {
  const gate = gateOf(field)
  return gate === undefined ? [] : [{ ...gate, field }]
}))

/** What a holder of a gated field does with it. @param within the field that holds the holder */
type Visit = (holder: Plain, gated: GatedField, within: string) => void

/** Visits the gated fields that concern the caller, in objects decoded by the message. */
class Walk {
  readonly #concerns: (gated: GatedField) => boolean
  readonly #has: (plan: Plan) => boolean
  readonly #below: (plan: Plan) => readonly PlannedField[]
  readonly #own: (plan: Plan) => readonly GatedField[]

  constructor (concerns: (gated: GatedField) => boolean) {
    this.#concerns = concerns
    this.#has = anywhere(plan => own(plan).some(concerns))
    this.#below = perPlan(({ fields }) => fields.filter(({ innermost }) => innermost.message !== undefined &&
      innermost.special === undefined && this.#has(innermost.plan)))
    this.#own = perPlan(plan => own(plan).filter(this.#concerns))
  }

  has (plan: Plan): boolean { return this.#has(plan) }

  visit (plan: Plan, object: Plain, within: string, each: Visit): void {
    for (const gated of this.#own(plan)) each(object, gated, within)
    for (const field of this.#below(plan)) this.#value(field, object[field.name], each)
  }

  #value (field: PlannedField, value: unknown, each: Visit): void {
    if (value === undefined || value === null || (field.anyType && !isOfType(field, value))) return
    const { element, shape, name } = field
    if (element === undefined && shape === 'one') return this.visit(field.plan, value as Plain, name, each)
    for (const item of Object.values(value)) {
      if (element === undefined) {
        this.visit(field.plan, item as Plain, name, each)
      } else {
        this.#value(element, item, each)
      }
    }
  }
}

/** The gated fields of one type on a server. */
export class GatedFields {
  readonly #plan: Plan
  readonly #gates: Gates
  readonly #dropped: Walk
  readonly #defaulted: Walk

  constructor (message: Message, gates: Gates) {
    const isOff = ({ name }: FieldGate): boolean => !gates.enabled(name)
    this.#plan = planOf(message)
    this.#gates = gates
    this.#dropped = new Walk(isOff)
    this.#defaulted = new Walk(gated => isOff(gated) ? gated.default !== undefined : gated.given !== undefined)
  }

  /** Drops fields whose gate is off, unless `old` uses them; `old` is undefined on create. */
  drop (object: object, old: object | undefined): void {
    const used = this.#used(object)
    if (used.length === 0) return
    const before = new Set(old === undefined ? [] : this.#used(old).map(([, gated]) => keyOf(gated)))
    for (const [holder, gated] of used) {
      if (before.has(keyOf(gated))) continue
      if (gated.otherwise === undefined) {
        Reflect.deleteProperty(holder, gated.field.name)
        Object.defineProperty(holder, DROPPED, { value: true })
      } else holder[gated.field.name] = clone(gated.otherwise)
    }
  }

  #used (object: object): Array<[holder: Plain, gated: GatedField]> {
    const fields: Array<[Plain, GatedField]> = []
    if (!this.#dropped.has(this.#plan)) return fields
    this.#dropped.visit(this.#plan, object as Plain, '', (holder, gated, within) => {
      const { field: { name, zero, pointer }, otherwise, default: fallback, except } = gated
      const value = holder[name]
      if (value === undefined || within === except) return
      if (![otherwise, fallback, pointer ? undefined : zero].some(unused => unused !== undefined &&
        sameValue(value, unused))) {
        fields.push([holder, gated])
      }
    })
    return fields
  }

  /** Corrects the defaults that depend on gates, after all others were applied; undefined if none do. */
  get correctDefaults (): ((object: object) => void) | undefined {
    if (this.#gates.areDefault === true || !this.#defaulted.has(this.#plan)) return undefined
    return object => {
      this.#defaulted.visit(this.#plan, object as Plain, '', (holder, gated) => {
        const { field: { name }, default: fallback, given } = gated
        if (this.#gates.enabled(gated.name)) holder[name] ??= clone(given)
        else if (sameValue(holder[name], fallback)) Reflect.deleteProperty(holder, name)
      })
    }
  }
}

const keyOf = ({ name, field }: GatedField): string => `${name}/${field.name}`
