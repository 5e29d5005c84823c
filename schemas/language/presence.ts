/** What `sameValue` cannot tell, as it knows no declarations: a message behind a pointer may be there with nothing in it, or not be there. */
import type { Message, Plain } from './types.js'
import { anywhere, fieldsThat, planOf } from './plan.js'
import type { Plan, PlannedField } from './plan.js'

const isMessage = ({ message, special, alternatives }: PlannedField): boolean => message !== undefined && special === undefined && !alternatives
const isOptional = (field: PlannedField): boolean => field.shape === 'one' && field.pointer && isMessage(field)
const hasOptional = anywhere(({ fields }) => fields.some(isOptional))
const looked = fieldsThat(field => isOptional(field) || (field.element === undefined && isMessage(field) && hasOptional(field.plan)))

/** Whether of two objects that are the same by `sameValue` the same messages are there, their metadata aside. */
export const sameMessages = <T extends object>(message: Message<T>, object: T, old: T): boolean => alike(planOf(message), object as Plain, old as Plain, 'metadata')

function alike (plan: Plan, object: Plain, old: Plain, aside?: string): boolean {
  return object === old || looked(plan).every(field => field.name === aside || alikeIn(field, object[field.name] ?? undefined, old[field.name] ?? undefined))
}

function alikeIn (field: PlannedField, value: unknown, before: unknown): boolean {
  if (value === undefined || before === undefined) return !isOptional(field) || value === before
  if (field.shape === 'one') return alike(field.plan, value as Plain, before as Plain)
  // Lists and maps of the same values.
  return Object.entries(value as Plain).every(([key, item]) => alike(field.plan, (item ?? {}) as Plain, ((before as Plain)[key] ?? {}) as Plain))
}
