/** Prunes fields that a manager applied last time, no longer applies, and no other manager owns. */
import { clone } from '../../schemas/index.js'
import { compare } from './compare.js'
import { EMPTY, below, intersection, isEmpty, isMember, part, unionAll } from './field-set.js'
import type { FieldSet } from './field-set.js'
import type { Manager } from './managers.js'
import { extract, merge, remove } from './merge.js'
import { childOf } from './shape.js'
import type { Shape } from './shape.js'
import type { Steps } from '../../schemas/steps.js'
import type { Versions } from './versions.js'

export interface Pruning {
  readonly versions: Versions
  /** In the version `apiVersion`; may be changed. */
  readonly merged: object
  readonly apiVersion: string
  readonly last: Manager | undefined
  /** The field sets of all managers, the current apply included. */
  readonly claims: readonly Manager[]
}

/** Never prune the name. */
const IDENTITY: FieldSet = Object.freeze({ 'f:metadata': Object.freeze({ 'f:name': EMPTY }) })

/** Runs in steps. */
export function * prune ({ versions, merged, apiVersion, last, claims }: Pruning): Steps<object> {
  const shapes = last === undefined ? undefined : versions.shapes(last.apiVersion)
  if (last === undefined || shapes === undefined) return merged
  const claimedIn = (version: string): FieldSet => unionAll([IDENTITY, ...claims.filter(claim => claim.apiVersion === version).map(({ fields }) => fields)])
  const claimed = claimedIn(last.apiVersion)
  yield
  const unclaimedFields = unclaimed(shapes.whole, last.fields, claimed)
  if (isEmpty(unclaimedFields)) return merged
  yield
  const elsewhere = [...new Set(claims.map(claim => claim.apiVersion))].filter(version => version !== last.apiVersion && versions.shapes(version) !== undefined)
  if (last.apiVersion === apiVersion && elsewhere.length === 0) return without(shapes.whole, merged, unclaimedFields)

  const convert = (object: object, from: string, to: string): object => from === to ? clone(object) : versions.convert(object, from, to)
  const whole = convert(merged, apiVersion, last.apiVersion)
  yield
  let pruned = without(shapes.whole, clone(whole), unclaimedFields)
  // Restore fields that other managers own in other versions.
  for (const version of elsewhere) {
    const theirs = versions.shapes(version)
    if (theirs === undefined) continue
    const all = convert(merged, apiVersion, version)
    yield
    const remaining = convert(pruned, last.apiVersion, version)
    yield
    const { changed, removed } = compare(theirs.owned, all, remaining)
    yield
    const unclaimedIn = (fields: FieldSet): FieldSet => unclaimed(theirs.whole, fields, claimedIn(version), false)
    pruned = convert(copyChanges(theirs.whole, all, remaining, unclaimedIn(changed), unclaimedIn(removed)), version, last.apiVersion)
  }
  yield
  // Prune only fields that this manager applied; conversion may have removed or defaulted others.
  const { changed, removed } = compare(shapes.owned, whole, pruned)
  return convert(copyChanges(shapes.whole, whole, pruned, intersection(last.fields, changed), removedFields(last.fields, removed)), last.apiVersion, apiVersion)
}

/** Copies changed fields from `other` and deletes removed ones. */
function copyChanges (shape: Shape, object: object, other: object, changed: FieldSet, removed: FieldSet): object {
  const kept = without(shape, object, removed)
  return isEmpty(changed) ? kept : merge(shape, kept, extract(shape, other, changed)) as object // of two
}

const without = (shape: Shape, object: object, fields: FieldSet): object => remove(shape, object, fields) as object // it stays one

/**
 * The fields of a set that no manager claims. A struct field without claims goes with everything in it, defaults included. An unclaimed list item or map
 * entry goes even if others own fields inside it, because an item needs its keys.
 * @param whole false for sets that list whole values themselves
 */
function unclaimed (shape: Shape, fields: FieldSet, claims: FieldSet, whole = true): FieldSet {
  const remaining: Array<[string, FieldSet]> = []
  for (const element of below(fields)) {
    const [mine, claimed] = [fields[element] ?? EMPTY, claims[element]]
    const child = childOf(shape, element)
    if (claimed === undefined) remaining.push([element, whole && shape.kind === 'struct' ? EMPTY : mine])
    else if (shape.kind !== 'struct' && isMember(mine) && !isMember(claimed)) remaining.push([element, EMPTY])
    else {
      const sub = child === undefined ? EMPTY : unclaimed(child, mine, claimed, whole)
      if (!isEmpty(sub)) remaining.push([element, sub])
    }
  }
  return part(false, remaining) ?? EMPTY
}

/** The applied fields that were removed, with everything below them. */
function removedFields (applied: FieldSet, removed: FieldSet): FieldSet {
  const found: Array<[string, FieldSet]> = []
  for (const element of below(applied)) {
    const theirs = removed[element]
    const sub = theirs === undefined || isMember(theirs) ? EMPTY : removedFields(applied[element] ?? EMPTY, theirs)
    if (theirs !== undefined && (isMember(theirs) || !isEmpty(sub))) found.push([element, sub])
  }
  return part(false, found) ?? EMPTY
}
