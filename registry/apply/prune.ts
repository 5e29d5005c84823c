/** Prunes fields that a manager applied last time, no longer applies, and no other manager owns. */
import { clone } from '../../schemas/language/values.js'
import { comparing, type Changes } from './compare.js'
import { isEmpty, intersection, part, childElements, isMember, unionAll, EMPTY, type FieldSet } from './field-set.js'
import type { Manager } from './managers.js'
import { extract, merge, remove } from './merge.js'
import { childOf, type Shape } from './shape.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import { convertOne, type Versions } from './versions.js'

export interface Pruning {
  readonly versions: Versions
  /** In the version `apiVersion`; may be changed. */
  readonly merged: object
  readonly apiVersion: string
  readonly last: Manager | undefined
  /** The field sets of all managers, the current apply included. */
  readonly managers: readonly Manager[]
}

/** Never prune the name. */
const IDENTITY: FieldSet = Object.freeze({ 'f:metadata': Object.freeze({ 'f:name': EMPTY }) })

/** Runs in steps. */
export function * prune ({ versions, merged, apiVersion, last, managers }: Pruning): WaitingSteps<object> {
  const shapes = last === undefined ? undefined : versions.shapes(last.apiVersion)
  if (last === undefined || shapes === undefined) return merged
  const ownedIn = (version: string): FieldSet =>
    unionAll([IDENTITY, ...managers.filter(manager => manager.apiVersion === version).map(({ fields }) => fields)])
  const owned = ownedIn(last.apiVersion)
  yield
  const unownedFields = unowned(shapes.whole, last.fields, owned)
  if (isEmpty(unownedFields)) return merged
  yield
  const elsewhere = [...new Set(managers.map(manager => manager.apiVersion))]
    .filter(version => version !== last.apiVersion && versions.shapes(version) !== undefined)
  if (last.apiVersion === apiVersion && elsewhere.length === 0) return without(shapes.whole, merged, unownedFields)

  const convert = function * (object: object, from: string, to: string): WaitingSteps<object> {
    return from === to ? clone(object) : yield * convertOne(versions, object, from, to)
  }
  const whole = yield * convert(merged, apiVersion, last.apiVersion)
  yield
  let pruned = without(shapes.whole, clone(whole), unownedFields)
  // Restore fields that other managers own in other versions.
  for (const version of elsewhere) {
    const other = versions.shapes(version)
    if (other === undefined) continue
    const all = yield * convert(merged, apiVersion, version)
    yield
    const remaining = yield * convert(pruned, last.apiVersion, version)
    yield
    const { changed, removed } = yield * comparing(other.owned, all, remaining)
    yield
    const unownedIn = (fields: FieldSet): FieldSet => unowned(other.whole, fields, ownedIn(version), false)
    const restored = copyChanges(other.whole, all, remaining, {
      changed: unownedIn(changed), removed: unownedIn(removed)
    })
    // Only what is restored: that version may lack other fields.
    const [before, after] = [
      yield * convert(remaining, version, last.apiVersion), yield * convert(restored, version, last.apiVersion)
    ]
    yield
    pruned = copyChanges(shapes.whole, pruned, after, yield * comparing(shapes.owned, before, after))
  }
  yield
  // Prune only fields that this manager applied; conversion may have removed or defaulted others.
  const { changed, removed } = yield * comparing(shapes.owned, whole, pruned)
  const own = { changed: intersection(last.fields, changed), removed: removedFields(last.fields, removed) }
  return yield * convert(copyChanges(shapes.whole, whole, pruned, own), last.apiVersion, apiVersion)
}

/** Copies changed fields from `other` and deletes removed ones. */
function copyChanges (shape: Shape, object: object, other: object, { changed, removed }: Changes): object {
  const kept = without(shape, object, removed)
  return isEmpty(changed) ? kept : merge(shape, kept, extract(shape, other, changed)) as object // of two
}

// it stays one
const without = (shape: Shape, object: object, fields: FieldSet): object => remove(shape, object, fields) as object

/**
 * The fields of a set that no manager owns. A struct field without an owner is removed with everything in it, defaults
 * included. A list item or map entry without an owner is removed even if managers own fields inside it, because an item
 * needs its keys.
 * @param whole false for sets that list whole values themselves
 */
function unowned (shape: Shape, fields: FieldSet, owned: FieldSet, whole = true): FieldSet {
  const remaining: Array<[string, FieldSet]> = []
  for (const element of childElements(fields)) {
    const [mine, ownedBelow] = [fields[element] ?? EMPTY, owned[element]]
    const child = childOf(shape, element)
    if (ownedBelow === undefined) remaining.push([element, whole && shape.kind === 'struct' ? EMPTY : mine])
    else if (shape.kind !== 'struct' && isMember(mine) && !isMember(ownedBelow)) remaining.push([element, EMPTY])
    else {
      const sub = child === undefined ? EMPTY : unowned(child, mine, ownedBelow, whole)
      if (!isEmpty(sub)) remaining.push([element, sub])
    }
  }
  return part(false, remaining) ?? EMPTY
}

/** The applied fields that were removed, with everything below them. */
function removedFields (applied: FieldSet, removed: FieldSet): FieldSet {
  const members: Array<[string, FieldSet]> = []
  for (const element of childElements(applied)) {
    const theirs = removed[element]
    const sub = theirs === undefined || isMember(theirs) ? EMPTY : removedFields(applied[element] ?? EMPTY, theirs)
    if (theirs !== undefined && (isMember(theirs) || !isEmpty(sub))) members.push([element, sub])
  }
  return part(false, members) ?? EMPTY
}
