/** Defaults, from the declaration: static ones of fields, then the computed ones of messages, the inner before the outer. */
import type { Message, Plain } from './declare.js'
import { planOf } from './plan.js'
import type { Plan, PlannedField } from './plan.js'
import { clone } from './values.js'

/** In place. May run again at any time: what is set stays as it is. Run it again once a name was generated. */
export function applyDefaults<T extends object> (message: Message<T>, object: T): void {
  fill(planOf(message), object as Plain) // an object of a message has its fields by name
}

const needed = new WeakMap<Plan, boolean>()

/** Whether anything below has a default. A type within itself adds nothing to what it is. */
function hasDefaults (plan: Plan): boolean {
  let answer = needed.get(plan)
  if (answer === undefined) {
    needed.set(plan, false)
    answer = plan.message.defaults !== undefined || plan.fields.some(fieldHasDefaults)
    needed.set(plan, answer)
  }
  return answer
}

const fieldHasDefaults = (field: PlannedField): boolean =>
  field.field.default !== undefined || (field.message !== undefined && field.special === undefined && hasDefaults(field.plan))

function fill (plan: Plan, object: Plain): void {
  if (!hasDefaults(plan)) return
  for (const field of plan.fields) {
    const value = object[field.name]
    if (value === undefined || (value === field.zero && !field.pointer && field.zero !== undefined)) {
      if (field.field.default !== undefined) object[field.name] = clone(field.field.default)
      continue
    }
    if (field.message === undefined || field.special !== undefined || !hasDefaults(field.plan)) continue
    // Decoded values have the shape their field declares.
    if (field.shape === 'one') fill(field.plan, value as Plain)
    else for (const item of Object.values(value as object)) fill(field.plan, item as Plain)
  }
  plan.message.defaults?.(object)
}
