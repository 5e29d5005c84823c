/** Defaults, from the declaration: static ones of fields, then the computed ones of messages, the inner before the outer. */
import type { Message, Plain } from './types.js'
import { alternativeOf, anywhere, perPlan, planOf } from './plan.js'
import type { Plan, PlannedField } from './plan.js'
import { clone } from './values.js'

/** In place. May run again at any time: what is set stays as it is. Run it again once a name was generated. */
export function applyDefaults<T extends object> (message: Message<T>, object: T): void {
  fill(planOf(message), object as Plain) // an object of a message has its fields by name
}

/** The same, but that what is for writing only stays as it was said. In place. */
export function applyOtherDefaults<T extends object> (message: Message<T>, object: T): void {
  const plan = planOf(message)
  const said = object as Plain
  const kept = writeOnly(plan).filter(name => said[name] !== undefined).map(name => [name, said[name]] as const)
  for (const [name] of kept) Reflect.deleteProperty(said, name)
  fill(plan, said)
  for (const [name, value] of kept) said[name] = value
}

const writeOnly = perPlan(({ fields }) => fields.filter(({ field }) => field.writeOnly === true).map(({ name }) => name))

/** What has no default anywhere below is not walked. */
const hasDefaults = anywhere(({ messages, fields }) => messages.some(({ defaults }) => defaults !== undefined) || fields.some(({ field }) => field.default !== undefined))

const holdsDefaults = ({ innermost }: PlannedField): boolean => innermost.message !== undefined && innermost.special === undefined && hasDefaults(innermost.plan)

interface Filled {
  readonly field: PlannedField
  /** Undefined where it has none. */
  readonly fallback: unknown
  /** Whether there are defaults in what it holds. */
  readonly nested: boolean
}

/** What there is to fill of a message: its fields, in order, and then what is computed. */
const filling = perPlan(plan => ({
  fields: plan.fields.map((field): Filled => ({ field, fallback: field.field.default, nested: holdsDefaults(field) })).filter(({ fallback, nested }) => nested || fallback !== undefined),
  computed: plan.messages.flatMap(({ defaults }) => defaults ?? [])
}))

function fill (plan: Plan, object: Plain): void {
  const { fields, computed } = filling(plan)
  for (const { field, fallback, nested } of fields) {
    const { name } = field
    const value = object[name]
    if (fallback !== undefined && (value === undefined || (value === field.zero && !field.pointer))) object[name] = clone(fallback)
    if (nested) fillValue(field, object[name])
  }
  for (const fillComputed of computed) fillComputed(object)
}

/** Decoded values have the shape their field declares. */
function fillValue (field: PlannedField, value: unknown): void {
  if (value === undefined || value === null) return
  const { element, shape } = field
  if (element === undefined && shape === 'one') fillMessage(field, value)
  else for (const item of Object.values(value)) if (element === undefined) fillMessage(field, item); else fillValue(element, item)
}

function fillMessage ({ alternatives, plan }: PlannedField, value: unknown): void {
  if (!alternatives) return fill(plan, value as Plain)
  const chosen = alternativeOf(plan, value)
  if (chosen !== undefined) fillValue(chosen, value)
}
