/** Values with several notations, such as the quantities 1Gi and 1073741824: another notation is no change. */
import { anywhere, fieldsThat, planOf, type Plan, type PlannedField } from './plan.js'
import type { Message, Plain } from './types.js'
import { setMember } from './values.js'

const isNoted = ({ element, special }: PlannedField): boolean => element === undefined && special?.isSame !== undefined
const hasNoted = anywhere(({ fields }) => fields.some(isNoted))
const looked = fieldsThat(field => isNoted(field) || (
  field.element === undefined && field.message !== undefined && field.special === undefined && !field.alternatives &&
  hasNoted(field.plan)
))

/**
 * The old object, with the notation of the new one where both mean the same. Shares its parts with both.
 * @param changes paths, if all else is equal
 */
export const inNotationOf = <T extends object>(
  message: Message<T>, object: T, old: T, changes?: readonly string[]
): T => {
  const plan = planOf(message)
  return hasNoted(plan) ? renoted(plan, object as Plain, old as Plain, changes) as T : old
}

function renoted (plan: Plan, object: Plain, old: Plain, changes?: readonly string[]): Plain {
  let copy: Plain | undefined
  for (const field of looked(plan)) {
    if (changes?.some(path => path.split('.', 1)[0] === field.name) === false) continue
    const before = old[field.name]
    const again = renotedField(field, object[field.name], before)
    if (again !== before) copy = { ...copy ?? old, [field.name]: again }
  }
  return copy ?? old
}

function renotedField (field: PlannedField, value: unknown, old: unknown): unknown {
  if (value === old || value == null || old == null) return old
  if (field.shape === 'one') return renotedItem(field, value, old)
  const [items, before] = [value as Plain, old as Plain]
  let copy: Plain | undefined
  for (const key of Object.keys(before)) {
    const again = Object.hasOwn(items, key) ? renotedItem(field, items[key], before[key]) : before[key]
    if (again === before[key]) continue
    copy ??= Array.isArray(old) ? [...old] as unknown as Plain : { ...before }
    setMember(copy, key, again)
  }
  return copy ?? old
}

function renotedItem ({ special, plan }: PlannedField, value: unknown, old: unknown): unknown {
  if (value === old || value == null || old == null) return old
  if (special === undefined) return renoted(plan, value as Plain, old as Plain)
  return special.isSame?.(value, old) === true ? value : old
}
