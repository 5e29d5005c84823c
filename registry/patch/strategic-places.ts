/** What the declarations say of the places in an object that a strategic merge patch comes to. */
import { alternativeOf } from '../../schemas/language/plan.js'
import type { Plan, PlannedField } from '../../schemas/language/plan.js'

/** What may stand in an object: the fields of a message, the entries of a map, or anything. */
export type Members = Plan | { readonly entries: PlannedField } | undefined

export interface Place {
  /** Undefined where objects are merged and lists replaced; `merge` is said of lists, `replace` of objects. */
  readonly strategy: string | undefined
  /** What identifies an object in a list that is merged; undefined in lists of scalars. */
  readonly mergeKey: string | undefined
  /** Of the object there, or of each object in the list there. */
  readonly members: Members
}

const ANYTHING: Place = { strategy: undefined, mergeKey: undefined, members: undefined }
const places = new WeakMap<PlannedField, Place>()

/** @param value of the place: which of its alternatives counts, where it has some */
export function placeOf (members: Members, name: string, value: unknown): Place {
  if (members === undefined) return ANYTHING
  if ('entries' in members) return entryOf(members.entries, value)
  const field = members.byName.get(name)
  return field === undefined ? ANYTHING : fieldOf(field, value)
}

function fieldOf (field: PlannedField, value: unknown): Place {
  if (field.alternatives && field.shape === 'one') return chosen(field, value)
  let place = places.get(field)
  if (place === undefined) {
    // Retaining keys is what clients ask for by a directive, which works anywhere.
    const strategy = field.field.patchStrategy?.split(',').find(one => one !== 'retainKeys')
    const members = field.shape === 'map' ? { entries: field } : membersOf(field)
    places.set(field, place = { strategy, mergeKey: field.field.patchMergeKey, members })
  }
  return place
}

/** Of one value of a map. */
function entryOf (field: PlannedField, value: unknown): Place {
  if (field.element !== undefined) return fieldOf(field.element, value)
  if (field.alternatives) return chosen(field, value)
  return { ...ANYTHING, members: membersOf(field) }
}

function chosen (field: PlannedField, value: unknown): Place {
  const alternative = alternativeOf(field.plan, value)
  return alternative === undefined ? ANYTHING : fieldOf(alternative, value)
}

/** Undefined where what stands there is no message of fields: scalars, raw JSON, lists in lists. */
function membersOf (field: PlannedField): Members {
  const isMessage = field.message !== undefined && field.special === undefined && !field.alternatives
  return isMessage ? field.plan : undefined
}
