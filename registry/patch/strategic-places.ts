/** Finds how a strategic merge patch treats each field, from the declarations. */
import { alternativeOf, type Plan, type PlannedField } from '../../schemas/language/plan.js'
import { oncePer } from '../../schemas/once-per.js'

/** The fields of a message, the entries of a map, or undeclared members. */
export type Members = Plan | { readonly entries: PlannedField } | undefined

export interface Place {
  /** `merge` is for lists, `replace` for objects. By default objects are merged and lists replaced. */
  readonly strategy: string | undefined
  /** Identifies the objects of a merged list; undefined for lists of scalars. */
  readonly mergeKey: string | undefined
  /** Members of the object, or of each object in the list. */
  readonly members: Members
}

const ANYTHING: Place = { strategy: undefined, mergeKey: undefined, members: undefined }

/** @param value selects the alternative of fields that have several */
export function placeOf (members: Members, name: string, value: unknown): Place {
  if (members === undefined) return ANYTHING
  if ('entries' in members) return entryOf(members.entries, value)
  const field = members.byName.get(name)
  return field === undefined ? ANYTHING : fieldOf(field, value)
}

const fieldOf = (field: PlannedField, value: unknown): Place =>
  field.alternatives && field.shape === 'one' ? placeOfAlternative(field, value) : declaredPlace(field)

const declaredPlace = oncePer((field: PlannedField): Place => {
  // retainKeys is only effective as a directive of the patch, which works anywhere.
  const strategy = field.field.patchStrategy?.split(',').find(word => word !== 'retainKeys')
  const members = field.shape === 'map' ? { entries: field } : membersOf(field)
  return { strategy, mergeKey: field.field.patchMergeKey, members }
})

/** The place of a map value. */
function entryOf (field: PlannedField, value: unknown): Place {
  if (field.element !== undefined) return fieldOf(field.element, value)
  if (field.alternatives) return placeOfAlternative(field, value)
  return { ...ANYTHING, members: membersOf(field) }
}

function placeOfAlternative (field: PlannedField, value: unknown): Place {
  const alternative = alternativeOf(field.plan, value)
  return alternative === undefined ? ANYTHING : fieldOf(alternative, value)
}

/** Undefined for values without declared fields: scalars, raw JSON, lists of lists. */
function membersOf (field: PlannedField): Members {
  const isMessage = field.message !== undefined && field.special === undefined && !field.alternatives
  return isMessage ? field.plan : undefined
}
