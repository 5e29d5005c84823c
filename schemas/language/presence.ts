/** Compares which optional messages are set. `sameValue` treats an empty one and an unset one as equal. */
import type { Message, Plain } from './types.js'
import { fieldsThat, anywhere, planOf, type PlannedField, type Plan } from './plan.js'

const isMessage = ({ message, special, alternatives }: PlannedField): boolean => message !== undefined &&
  special === undefined && !alternatives
const isOptional = (field: PlannedField): boolean => field.shape === 'one' && field.pointer && isMessage(field)
const hasOptional = anywhere(({ fields }) => fields.some(isOptional))
const looked = fieldsThat(field => isOptional(field) ||
  (field.element === undefined && isMessage(field) && hasOptional(field.plan)))

/** Given two objects equal by `sameValue`: whether the same messages are set in both, metadata aside. */
export const sameMessages = <T extends object>(message: Message<T>, object: T, old: T): boolean =>
  alike(planOf(message), object as Plain, old as Plain, 'metadata')

function alike (plan: Plan, object: Plain, old: Plain, aside?: string): boolean {
  return object === old || looked(plan).every(field => field.name === aside ||
    alikeIn(field, object[field.name] ?? undefined, old[field.name] ?? undefined))
}

function alikeIn (field: PlannedField, value: unknown, before: unknown): boolean {
  if (value === undefined || before === undefined) return !isOptional(field) || value === before
  if (field.shape === 'one') return alike(field.plan, value as Plain, before as Plain)
  // Lists and maps with equal values.
  return Object.entries(value as Plain)
    .every(([key, item]) => alike(field.plan, (item ?? {}) as Plain, ((before as Plain)[key] ?? {}) as Plain))
}
