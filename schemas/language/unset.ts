/** Normalizes objects read from the server's own JSON, in which unset lists, pointers and times are null. */
import type { Message, Plain } from './types.js'
import { fieldsThat, anywhere, planOf, alternativeOf, type PlannedField, type Plan } from './plan.js'

const isWrittenAsNull = ({ shape, written, special, pointer, nullable, alternatives }: PlannedField): boolean =>
  !nullable && ((alternatives && shape !== 'one') || (written && (shape !== 'one' || pointer)) ||
    (special !== undefined && special.zero === undefined && !pointer))

const mayHoldNulls = anywhere(({ fields }) =>
  fields.some(field => isWrittenAsNull(field.innermost) || isWrittenAsNull(field)))

/** The object without those nulls, as the decoder makes it. Returns the same object if there are none. */
export function withoutNulls<T extends object> (message: Message<T>, object: T): T {
  return strip(planOf(message), object as Plain) as T // still an object of the message
}

function strip (plan: Plan, object: Plain): Plain {
  if (!mayHoldNulls(plan)) return object
  let stripped = object
  for (const field of plan.fields) {
    const value = object[field.name]
    if (value === undefined || (value === null && field.nullable)) continue
    const next = value === null ? undefined : stripValue(field, value)
    if (next === value) continue
    if (stripped === object) stripped = { ...object }
    if (next === undefined) delete stripped[field.name]
    else stripped[field.name] = next
  }
  return stripped
}

/** Whether the value, or an element of it, may be or contain null. */
const mayStrip = ({ special, alternatives, plan }: PlannedField): boolean => alternatives || mayHoldNulls(plan) ||
  (special !== undefined && special.zero === undefined)

/** Values were decoded by their field. */
function stripValue (field: PlannedField, value: unknown): unknown {
  if (field.element !== undefined || field.message === undefined || !mayStrip(field)) return value
  if (field.shape === 'one') return stripItem(field, value)
  if (field.shape === 'list') {
    const items = value as unknown[]
    const stripped = items.map(item => stripItem(field, item))
    return stripped.some((item, index) => item !== items[index]) ? stripped : items
  }
  const entries = Object.entries(value as Plain).map(([key, item]) => [key, item, stripItem(field, item)] as const)
  return entries.some(([, item, stripped]) => item !== stripped)
    ? Object.fromEntries(entries.map(([key, , stripped]) => [key, stripped]))
    : value
}

/** As in the decoder, a null element is the zero of its type. */
function stripItem (field: PlannedField, item: unknown): unknown {
  if (item === null) return field.zero
  if (field.special !== undefined) return item
  if (!field.alternatives) return strip(field.plan, item as Plain)
  const chosen = alternativeOf(field.plan, item)
  return chosen === undefined ? item : stripValue(chosen, item)
}

const isPlainMessage = ({ message, special, alternatives }: PlannedField): boolean => message !== undefined &&
  special === undefined && !alternatives
const mayKeepEmpty = anywhere(({ fields }) => fields.some(({ keepsEmpty }) => keepsEmpty))
const fieldsKeepingEmpty = fieldsThat(field => field.keepsEmpty ||
  (isPlainMessage(field.innermost) && mayKeepEmpty(field.innermost.plan)))

/**
 * Removes, in place, empty lists and maps that are not stored, and nulls: the result is what a read from the store
 * returns.
 */
export function removeUnstoredEmpty<T extends object> (message: Message<T>, object: T): void {
  removeEmptyIn(planOf(message), object as Plain)
}

function removeEmptyIn (plan: Plan, object: Plain): void {
  for (const field of fieldsKeepingEmpty(plan)) {
    const value = object[field.name]
    if (typeof value !== 'object') continue
    if (value === null) {
      if (!field.nullable) delete object[field.name]
    } else if (field.keepsEmpty && Object.keys(value).length === 0) delete object[field.name]
    else if (field.shape === 'one') removeEmptyIn(field.plan, value as Plain)
    else if (isPlainMessage(field)) for (const item of Object.values(value)) removeEmptyIn(field.plan, item as Plain)
  }
}
