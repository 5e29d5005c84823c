/**
 * Fields that feature gates or releases bring (`gate` and `since` of their options). While its gate is off, a field is
 * dropped from what clients send unless the stored object has it; defaults that depend on a gate are added and removed
 * here. A field that the emulated release does not have, yet or any more, is dropped likewise, and counts as unknown.
 */
import { pathText } from '../codec/json/repeated-keys.js'
import type { Gates } from '../gates.js'
import { anywhere, fillRequired, isOfType, planOf, type Plan, type PlannedField } from './plan.js'
import { oncePer } from '../once-per.js'
import type { FieldGate, Message, Plain } from './types.js'
import { clone, sameValue } from './values.js'

const DROPPED = Symbol('dropped')

/** Whether a field of the object was dropped. Defaults then do not replace it. */
export const lacksDropped = (object: object): boolean => DROPPED in object

interface GatedField extends FieldGate { readonly field: PlannedField }

/** Of fields that were there from the beginning. */
const NONE = ''

const gateOf = ({ field: { gate, since, removed } }: PlannedField): FieldGate | undefined => {
  const brought = gate ?? since ?? (removed === undefined ? undefined : NONE)
  return typeof brought === 'string' ? { name: brought } : brought
}

/** Whether a release has a field, its gate on or off. */
export const isKnown = ({ field: { gate, since, removed } }: PlannedField, gates: Gates): boolean =>
  (removed === undefined || !gates.enabled(removed)) && (since === undefined || gates.enabled(since) ||
  (gate !== undefined && gates.knows(typeof gate === 'string' ? gate : gate.name)))

const own = oncePer(({ fields }: Plan): readonly GatedField[] => fields.flatMap(field => {
  const gate = gateOf(field)
  return gate === undefined ? [] : [{ ...gate, field }]
}))

/** Whether the emulated release has no status of a type any more. */
export function lacksStatus (message: Message, gates: Gates): boolean {
  const status = planOf(message).byName.get('status')
  return status?.field.removed !== undefined && !isKnown(status, gates)
}

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
    this.#below = oncePer(({ fields }: Plan) => fields.filter(({ innermost }) => innermost.message !== undefined &&
      innermost.special === undefined && this.#has(innermost.plan)))
    this.#own = oncePer((plan: Plan) => own(plan).filter(this.#concerns))
  }

  has (plan: Plan): boolean { return this.#has(plan) }

  visit (plan: Plan, object: Plain, within: string, visitField: Visit): void {
    for (const gated of this.#own(plan)) visitField(object, gated, within)
    for (const field of this.#below(plan)) this.#value(field, object[field.name], visitField)
  }

  #value (field: PlannedField, value: unknown, visitField: Visit): void {
    if (value === undefined || value === null || (field.anyType && !isOfType(field, value))) return
    const { element, shape, name } = field
    if (element === undefined && shape === 'one') return this.visit(field.plan, value as Plain, name, visitField)
    for (const item of Object.values(value)) {
      if (element === undefined) {
        this.visit(field.plan, item as Plain, name, visitField)
      } else {
        this.#value(element, item, visitField)
      }
    }
  }
}

/** The gated fields of one type on a server. */
export class GatedFields {
  readonly #plan: Plan
  readonly #gates: Gates
  readonly #dropped: Walk
  readonly #unknown: Walk
  readonly #defaulted: Walk
  #correctsDefaults: boolean | undefined

  constructor (message: Message, gates: Gates) {
    const isOff = ({ name }: FieldGate): boolean => name !== NONE && !gates.enabled(name)
    this.#plan = planOf(message)
    this.#gates = gates
    this.#dropped = new Walk(gated => isKnown(gated.field, gates) && isOff(gated))
    this.#unknown = new Walk(gated => !isKnown(gated.field, gates))
    this.#defaulted = new Walk(gated => isOff(gated) ? gated.default !== undefined : gated.given !== undefined)
  }

  /** Drops fields whose gate is off, unless `old` uses them; `old` is undefined on create. */
  drop (object: object, old: object | undefined): void {
    for (const [holder, gated] of this.#added(this.#dropped, object, old)) {
      if (gated.otherwise === undefined) {
        Reflect.deleteProperty(holder, gated.field.name)
        Object.defineProperty(holder, DROPPED, { value: true })
      } else holder[gated.field.name] = clone(gated.otherwise)
    }
  }

  /**
   * Drops fields that the emulated release does not have, unless `old` uses them. @returns the paths of those that a
   * client sent: an embedded message is there, empty, without being sent
   */
  dropUnknown (object: object, old: object | undefined): string[] {
    return this.#added(this.#unknown, object, old).flatMap(([holder, { field }]) => {
      const value = holder[field.name]
      Reflect.deleteProperty(holder, field.name)
      return field.embedded && sameValue(value, fillRequired(field.plan, {}))
        ? []
        : [pathText([...pathOf(object, holder) ?? [], field.name])]
    })
  }

  /** The fields of a walk that an object uses and `old` does not. */
  #added (walk: Walk, object: object, old: object | undefined): Array<[holder: Plain, gated: GatedField]> {
    const used = this.#used(walk, object)
    if (used.length === 0) return used
    const before = new Set(old === undefined ? [] : this.#used(walk, old).map(([, gated]) => keyOf(gated)))
    return used.filter(([, gated]) => !before.has(keyOf(gated)))
  }

  #used (walk: Walk, object: object): Array<[holder: Plain, gated: GatedField]> {
    const fields: Array<[Plain, GatedField]> = []
    if (!walk.has(this.#plan)) return fields
    walk.visit(this.#plan, object as Plain, '', (holder, gated, within) => {
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

  /** Whether defaults of the type depend on gates here. Found out when first asked: it plans all messages below. */
  get correctsDefaults (): boolean {
    this.#correctsDefaults ??= this.#gates.areDefault !== true && this.#defaulted.has(this.#plan)
    return this.#correctsDefaults
  }

  /** Corrects the defaults that depend on gates, after all others were applied. */
  correctDefaults (object: object): void {
    if (!this.correctsDefaults) return
    this.#defaulted.visit(this.#plan, object as Plain, '', (holder, gated) => {
      const { field: { name }, default: fallback, given } = gated
      if (gated.name === NONE || this.#gates.enabled(gated.name)) holder[name] ??= clone(given)
      else if (sameValue(holder[name], fallback)) Reflect.deleteProperty(holder, name)
    })
  }
}

const keyOf = ({ name, field }: GatedField): string => `${name}/${field.name}`

/** Where a part of an object is; undefined if it is not in it. */
function pathOf (within: object, part: object): Array<string | number> | undefined {
  if (within === part) return []
  for (const [name, value] of Object.entries(within) as Array<[string, unknown]>) {
    if (typeof value !== 'object' || value === null) continue
    const path = pathOf(value, part)
    if (path !== undefined) return [Array.isArray(within) ? Number(name) : name, ...path]
  }
  return undefined
}
