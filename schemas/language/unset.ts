/** Objects as they are read from JSON of our own, in which unset lists, pointers and times are null where they are always written. */
import type { Message, Plain } from './types.js'
import { alternativeOf, anywhere, fieldsThat, planOf } from './plan.js'
import type { Plan, PlannedField } from './plan.js'

const isWrittenAsNull = ({ shape, written, special, pointer, nullable, alternatives }: PlannedField): boolean =>
  !nullable && ((alternatives && shape !== 'one') || (written && (shape !== 'one' || pointer)) || (special !== undefined && special.zero === undefined && !pointer))

const mayHoldNulls = anywhere(({ fields }) => fields.some(field => isWrittenAsNull(field.innermost) || isWrittenAsNull(field)))

/** The object as the decoder would have made it: what is null because it is not set is not there. The same one where nothing is null. */
export function withoutNulls<T extends object> (message: Message<T>, object: T): T {
  return strip(planOf(message), object as Plain) as T // an object of the message still
}

function strip (plan: Plan, object: Plain): Plain {
  if (!mayHoldNulls(plan)) return object
  let made = object
  for (const field of plan.fields) {
    const value = object[field.name]
    if (value === undefined || (value === null && field.nullable)) continue
    const next = value === null ? undefined : stripValue(field, value)
    if (next === value) continue
    if (made === object) made = { ...object }
    if (next === undefined) delete made[field.name]
    else made[field.name] = next
  }
  return made
}

/** Whether what stands in the field, or an element of it, may be null or hold null. */
const mayStrip = ({ special, alternatives, plan }: PlannedField): boolean => alternatives || mayHoldNulls(plan) || (special !== undefined && special.zero === undefined)

/** Values have the shape their field declares. */
function stripValue (field: PlannedField, value: unknown): unknown {
  if (field.element !== undefined || field.message === undefined || !mayStrip(field)) return value
  if (field.shape === 'one') return stripItem(field, value)
  if (field.shape === 'list') {
    const items = value as unknown[]
    const made = items.map(item => stripItem(field, item))
    return made.some((item, index) => item !== items[index]) ? made : items
  }
  const entries = Object.entries(value as Plain).map(([key, item]) => [key, item, stripItem(field, item)] as const)
  return entries.some(([, item, made]) => item !== made) ? Object.fromEntries(entries.map(([key, , made]) => [key, made])) : value
}

/** As the decoder takes elements: null is the zero of its type. */
function stripItem (field: PlannedField, item: unknown): unknown {
  if (item === null) return field.zero
  if (field.special !== undefined) return item
  if (!field.alternatives) return strip(field.plan, item as Plain)
  const chosen = alternativeOf(field.plan, item)
  return chosen === undefined ? item : stripValue(chosen, item)
}

const isPlainMessage = ({ message, special, alternatives }: PlannedField): boolean => message !== undefined && special === undefined && !alternatives
const hears = anywhere(({ fields }) => fields.some(({ heardEmpty }) => heardEmpty))
const hearing = fieldsThat(field => field.heardEmpty || (isPlainMessage(field.innermost) && hears(field.innermost.plan)))

/** Takes lists and maps out, in place, that were heard of while they were empty and are not stored, and those that our own JSON has as null: what is left is what is read back. */
export function forgetEmpty<T extends object> (message: Message<T>, object: T): void { forget(planOf(message), object as Plain) } // it has its fields by name

function forget (plan: Plan, object: Plain): void {
  for (const field of hearing(plan)) {
    const value = object[field.name]
    if (typeof value !== 'object') continue
    if (value === null) {
      if (!field.nullable) delete object[field.name]
    } else if (field.heardEmpty && Object.keys(value).length === 0) delete object[field.name]
    else if (field.shape === 'one') forget(field.plan, value as Plain)
    else if (isPlainMessage(field)) for (const item of Object.values(value)) forget(field.plan, item as Plain)
  }
}
