/** Defaults, from the declaration: static ones of fields, then the computed ones of messages, the inner before the outer. */
import type { Message, Plain } from './types.js'
import { alternativeOf, anywhere, fieldsThat, planOf } from './plan.js'
import type { Plan, PlannedField } from './plan.js'
import { clone } from './values.js'

/** In place. May run again at any time: what is set stays as it is. Run it again once a name was generated. */
export function applyDefaults<T extends object> (message: Message<T>, object: T): void {
  fill(planOf(message), object as Plain) // an object of a message has its fields by name
}

/** What has no default anywhere below is not walked. */
const hasDefaults = anywhere(({ messages, fields }) => messages.some(({ defaults }) => defaults !== undefined) || fields.some(({ field }) => field.default !== undefined))

const holdsDefaults = ({ innermost }: PlannedField): boolean => innermost.message !== undefined && innermost.special === undefined && hasDefaults(innermost.plan)
const filled = fieldsThat(field => field.field.default !== undefined || holdsDefaults(field))

function fill (plan: Plan, object: Plain): void {
  if (!hasDefaults(plan)) return
  for (const field of filled(plan)) {
    const value = object[field.name]
    if (field.field.default !== undefined && (value === undefined || (value === field.zero && !field.pointer))) object[field.name] = clone(field.field.default)
    fillValue(field, object[field.name])
  }
  for (const { defaults } of plan.messages) defaults?.(object)
}

/** Decoded values have the shape their field declares. */
function fillValue (field: PlannedField, value: unknown): void {
  if (value === undefined || value === null || !holdsDefaults(field)) return
  if (field.element !== undefined) {
    for (const item of Object.values(value)) fillValue(field.element, item)
    return
  }
  if (field.shape === 'one') fillMessage(field, value)
  else for (const item of Object.values(value)) fillMessage(field, item)
}

function fillMessage ({ alternatives, plan }: PlannedField, value: unknown): void {
  if (!alternatives) return fill(plan, value as Plain)
  const chosen = alternativeOf(plan, value)
  if (chosen !== undefined) fillValue(chosen, value)
}
