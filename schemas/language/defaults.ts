/** Defaulting: static defaults of fields, then computed defaults of messages, from the innermost message outwards. */
import type { Message, Plain } from './types.js'
import { anywhere, isOfType, perPlan, planOf, alternativeOf, type PlannedField, type Plan } from './plan.js'
import { clone } from './values.js'

/** Sets defaults in place; idempotent. Run it again after a name was generated. */
export function applyDefaults<T extends object> (message: Message<T>, object: T): void {
  fill(planOf(message), object as Plain) // decoded by the message
}

/** The same without the computed defaults of write-only fields. In place. */
export function applyOtherDefaults<T extends object> (message: Message<T>, object: T): void {
  const plan = planOf(message)
  const said = object as Plain
  const kept = writeOnly(plan).filter(name => said[name] !== undefined).map(name => [name, said[name]] as const)
  for (const [name] of kept) Reflect.deleteProperty(said, name)
  fill(plan, said)
  for (const [name, value] of kept) said[name] = value
}

const writeOnly = perPlan(({ fields }) => fields.filter(({ field }) => field.writeOnly === true).map(({ name }) => name))

/** Messages without defaults below are skipped. */
const hasDefaults = anywhere(({ messages, fields }) => messages.some(({ defaults }) => defaults !== undefined) || fields.some(({ field }) => field.default !== undefined))

const holdsDefaults = ({ innermost }: PlannedField): boolean => innermost.message !== undefined && innermost.special === undefined && hasDefaults(innermost.plan)

interface Filled {
  readonly field: PlannedField
  /** Static default, if any. */
  readonly fallback: unknown
  /** Nested messages have defaults. */
  readonly nested: boolean
}

/** The defaulted fields of a message in order, and its computed defaults. */
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

/** Values were decoded by their field. */
function fillValue (field: PlannedField, value: unknown): void {
  if (value === undefined || value === null || (field.anyType && !isOfType(field, value))) return
  const { element, shape } = field
  if (element === undefined && shape === 'one') fillMessage(field, value)
  else for (const item of Object.values(value)) if (element === undefined) fillMessage(field, item); else fillValue(element, item)
}

function fillMessage ({ alternatives, plan }: PlannedField, value: unknown): void {
  if (!alternatives) return fill(plan, value as Plain)
  const chosen = alternativeOf(plan, value)
  if (chosen !== undefined) fillValue(chosen, value)
}
