/** Taking out what a manager applied last time, does not apply any more, and nobody else owns. */
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
  /** In the version `apiVersion`; it may be changed. */
  readonly merged: object
  readonly apiVersion: string
  readonly last: Manager | undefined
  /** Of all managers, what is applied now among them. */
  readonly claims: readonly Manager[]
}

/** Which object it is stays, whatever is owned of it. */
const IDENTITY: FieldSet = Object.freeze({ 'f:metadata': Object.freeze({ 'f:name': EMPTY }) })

/** In steps. */
export function * prune ({ versions, merged, apiVersion, last, claims }: Pruning): Steps<object> {
  const shapes = last === undefined ? undefined : versions.shapes(last.apiVersion)
  if (last === undefined || shapes === undefined) return merged
  const claimedIn = (version: string): FieldSet => unionAll([IDENTITY, ...claims.filter(claim => claim.apiVersion === version).map(({ fields }) => fields)])
  const claimed = claimedIn(last.apiVersion)
  yield
  const doomed = unclaimed(shapes.whole, last.fields, claimed)
  if (isEmpty(doomed)) return merged
  yield
  const elsewhere = [...new Set(claims.map(claim => claim.apiVersion))].filter(version => version !== last.apiVersion && versions.shapes(version) !== undefined)
  if (last.apiVersion === apiVersion && elsewhere.length === 0) return without(shapes.whole, merged, doomed)

  const convert = (object: object, from: string, to: string): object => from === to ? clone(object) : versions.convert(object, from, to)
  const whole = convert(merged, apiVersion, last.apiVersion)
  yield
  let pruned = without(shapes.whole, clone(whole), doomed)
  // What others own in words of their own comes back.
  for (const version of elsewhere) {
    const theirs = versions.shapes(version)
    if (theirs === undefined) continue
    const all = convert(merged, apiVersion, version)
    yield
    const left = convert(pruned, last.apiVersion, version)
    yield
    const { changed, removed } = compare(theirs.owned, all, left)
    yield
    const free = (fields: FieldSet): FieldSet => unclaimed(theirs.whole, fields, claimedIn(version), false)
    pruned = convert(taking(theirs.whole, all, left, free(changed), free(removed)), version, last.apiVersion)
  }
  yield
  // And nothing goes, or is its default again, that was not applied.
  const { changed, removed } = compare(shapes.owned, whole, pruned)
  return convert(taking(shapes.whole, whole, pruned, intersection(last.fields, changed), removedFields(last.fields, removed)), last.apiVersion, apiVersion)
}

/** An object with the changed fields of another one, and without those that this lacks. */
function taking (shape: Shape, object: object, other: object, changed: FieldSet, removed: FieldSet): object {
  const kept = without(shape, object, removed)
  return isEmpty(changed) ? kept : merge(shape, kept, extract(shape, other, changed)) as object // of two
}

const without = (shape: Shape, object: object, fields: FieldSet): object => remove(shape, object, fields) as object // it stays one

/**
 * The fields of a set that nobody claims. A field of a struct in which nobody claims anything goes with all that is in it,
 * defaults too; so does an item or entry, which is a field itself. That goes with what others own in it, for an item would be none without
 * its keys: only who owns it as such keeps it.
 * @param whole false for sets that say themselves what goes as a whole
 */
function unclaimed (shape: Shape, fields: FieldSet, claims: FieldSet, whole = true): FieldSet {
  const left: Array<[string, FieldSet]> = []
  for (const element of below(fields)) {
    const [mine, claimed] = [fields[element] ?? EMPTY, claims[element]]
    const child = childOf(shape, element)
    if (claimed === undefined) left.push([element, whole && shape.kind === 'struct' ? EMPTY : mine])
    else if (shape.kind !== 'struct' && isMember(mine) && !isMember(claimed)) left.push([element, EMPTY])
    else {
      const sub = child === undefined ? EMPTY : unclaimed(child, mine, claimed, whole)
      if (!isEmpty(sub)) left.push([element, sub])
    }
  }
  return part(false, left) ?? EMPTY
}

/** What of the fields that were applied is removed, with all that is in it. */
function removedFields (applied: FieldSet, removed: FieldSet): FieldSet {
  const found: Array<[string, FieldSet]> = []
  for (const element of below(applied)) {
    const theirs = removed[element]
    const sub = theirs === undefined || isMember(theirs) ? EMPTY : removedFields(applied[element] ?? EMPTY, theirs)
    if (theirs !== undefined && (isMember(theirs) || !isEmpty(sub))) found.push([element, sub])
  }
  return part(false, found) ?? EMPTY
}
