/** Defaulting: static defaults of fields, then computed defaults of messages, from the innermost message outwards. */
import { DEFAULT_GATES, type Gates } from '../gates.js'
import { MAX_VALUES } from '../limits.js'
import { addedTo, filledFields, lacks, valuesIn } from './growth.js'
import type { Message, Plain } from './types.js'
import { isOfType, planOf, alternativeOf, type PlannedField, type Plan } from './plan.js'
import { oncePer } from '../once-per.js'
import { clone } from './values.js'

/** Fewer new values cannot make an object large. */
const FEW = 1000

/**
 * Sets defaults in place; idempotent. Run it again after a name was generated.
 * @param gates those of the server, for objects that have pod templates
 * @returns false if the object would grow beyond the limit of values; nothing is set then
 */
export function applyDefaults<T extends object> (message: Message<T>, object: T, gates = DEFAULT_GATES): boolean {
  const plan = planOf(message)
  const said = object as Plain // decoded by the message
  if (outgrows(plan, said)) {
    lacking.add(object)
    return false
  }
  fill(plan, said, gates)
  return true
}

const lacking = new WeakSet<object>()

/** Whether this very object was left without its defaults. */
export const lacksDefaults = (object: object): boolean => lacking.has(object)

/**
 * Built-in types grow tenfold at most. Schemas of definitions may multiply: defaults are counted before they are filled
 * in.
 */
function outgrows (plan: Plan, object: Plain): boolean {
  if (plan.message.protobuf || filledFields(plan).length === 0) return false
  const added = addedTo(plan, object, MAX_VALUES)
  return added > FEW && (added > MAX_VALUES || added + valuesIn(object, MAX_VALUES) > MAX_VALUES)
}

/** The same without the computed defaults of write-only fields. In place. */
export function applyOtherDefaults<T extends object> (message: Message<T>, object: T, gates = DEFAULT_GATES): void {
  const plan = planOf(message)
  const said = object as Plain
  const kept = writeOnly(plan).filter(name => said[name] !== undefined).map(name => [name, said[name]] as const)
  for (const [name] of kept) Reflect.deleteProperty(said, name)
  if (!outgrows(plan, said)) fill(plan, said, gates)
  for (const [name, value] of kept) said[name] = value
}

const writeOnly = oncePer(({ fields }: Plan) =>
  fields.filter(({ field }) => field.writeOnly === true).map(({ name }) => name))

const computedDefaults = oncePer((plan: Plan) => plan.messages.flatMap(({ defaults }) => defaults ?? []))

function fill (plan: Plan, object: Plain, gates: Gates): void {
  for (const filled of filledFields(plan)) {
    const { field, fallback, nested } = filled
    if (lacks(object, filled)) object[field.name] = clone(fallback)
    if (nested) fillValue(field, object[field.name], gates)
  }
  for (const fillComputed of computedDefaults(plan)) fillComputed(object, gates)
}

/** Values were decoded by their field. */
function fillValue (field: PlannedField, value: unknown, gates: Gates): void {
  if (value === undefined || value === null || (field.anyType && !isOfType(field, value))) return
  const { element, shape } = field
  if (element === undefined && shape === 'one') fillMessage(field, value, gates)
  else {
    for (const item of Object.values(value)) {
      if (element === undefined) fillMessage(field, item, gates); else fillValue(element, item, gates)
    }
  }
}

function fillMessage ({ alternatives, plan }: PlannedField, value: unknown, gates: Gates): void {
  if (!alternatives) return fill(plan, value as Plain, gates)
  const chosen = alternativeOf(plan, value)
  if (chosen !== undefined) fillValue(chosen, value, gates)
}
