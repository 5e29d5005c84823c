/**
 * How much static defaults add to an object, counted before anything is built: defaults in nested lists multiply. What
 * a default costs, with the defaults in it, is computed once per field.
 */
import type { Plain } from './types.js'
import { anywhere, isOfType, alternativeOf, type PlannedField, type Plan } from './plan.js'
import { oncePer } from '../once-per.js'

/** Messages without defaults below are skipped. */
const hasDefaults = anywhere(({ messages, fields }) =>
  messages.some(({ defaults }) => defaults !== undefined) || fields.some(({ field }) => field.default !== undefined))

const isMessage = ({ message, special }: PlannedField): boolean => message !== undefined && special === undefined
const holdsDefaults = ({ innermost }: PlannedField): boolean => isMessage(innermost) && hasDefaults(innermost.plan)

/** A field that has a default, or defaults in its values. */
export interface Filled {
  readonly field: PlannedField
  /** Static default, if any. */
  readonly fallback: unknown
  /** Nested messages have defaults. */
  readonly nested: boolean
  /** List items and members of the static default, with all defaults in it. */
  readonly cost: () => number
}

/** The fields that a walk over defaults visits, in order. */
export const filledFields = oncePer(({ fields }: Plan): readonly Filled[] => fields.flatMap(field => {
  const [fallback, nested] = [field.field.default as unknown, holdsDefaults(field)]
  if (!nested && fallback === undefined) return []
  let known: number | undefined
  const cost = (): number => known ??= 1 + valuesIn(fallback) + (nested ? addedToValue(field, fallback) : 0)
  return [{ field, fallback, nested, cost }]
}))

/** Whether the object gets the static default of the field. */
export const lacks = (object: Plain, { field: { name, zero, pointer }, fallback }: Filled): boolean =>
  fallback !== undefined && (object[name] === undefined || (object[name] === zero && !pointer))

/** List items and members that static defaults add to the object; beyond the limit the count ends. */
export function addedTo (plan: Plan, object: Plain, limit = Infinity): number {
  let added = 0
  for (const filled of filledFields(plan)) {
    if (lacks(object, filled)) added += filled.cost()
    else if (filled.nested) added += addedToValue(filled.field, object[filled.field.name], limit - added)
    if (added > limit) break
  }
  return added
}

function addedToValue (field: PlannedField, value: unknown, limit = Infinity): number {
  if (value === undefined || value === null || (field.anyType && !isOfType(field, value))) return 0
  const { element, shape } = field
  if (element === undefined && shape === 'one') return addedToMessage(field, value, limit)
  let added = 0
  for (const item of Object.values(value)) {
    const left = limit - added
    added += element === undefined ? addedToMessage(field, item, left) : addedToValue(element, item, left)
    if (added > limit) break
  }
  return added
}

function addedToMessage ({ alternatives, plan }: PlannedField, value: unknown, limit: number): number {
  if (!alternatives) return addedTo(plan, value as Plain, limit)
  const chosen = alternativeOf(plan, value)
  return chosen === undefined ? 0 : addedToValue(chosen, value, limit)
}

/** List items and members, up to a few more than the limit. */
export function valuesIn (value: unknown, limit = Infinity): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const member of Array.isArray(value) ? value as unknown[] : Object.values(value)) {
    if (member === undefined) continue
    count += 1 + valuesIn(member, limit - count)
    if (count > limit) break
  }
  return count
}
