/** Taking out what a manager applied last time, does not apply any more, and nobody else owns. */
import { clone } from '../../schemas/index.js'
import { compare } from './compare.js'
import { EMPTY, below, isEmpty, isMember, part, unionAll } from './field-set.js'
import type { FieldSet } from './field-set.js'
import type { Manager } from './managers.js'
import { remove } from './merge.js'
import type { Shape } from './shape.js'
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

export function prune ({ versions, merged, apiVersion, last, claims }: Pruning): object {
  const shapes = last === undefined ? undefined : versions.shapes(last.apiVersion)
  if (last === undefined || shapes === undefined) return merged
  const claimedIn = (version: string): FieldSet => unionAll([IDENTITY, ...claims.filter(claim => claim.apiVersion === version).map(({ fields }) => fields)])
  const doomed = unclaimed(shapes.whole, last.fields, claimedIn(last.apiVersion))
  if (isEmpty(doomed)) return merged
  const elsewhere = [...new Set(claims.map(claim => claim.apiVersion))].filter(version => version !== last.apiVersion && versions.shapes(version) !== undefined)
  if (last.apiVersion === apiVersion && elsewhere.length === 0) return without(shapes.whole, merged, doomed)

  const convert = (object: object, from: string, to: string): object => from === to ? clone(object) : versions.convert(object, from, to)
  const whole = convert(merged, apiVersion, last.apiVersion)
  let pruned = without(shapes.whole, clone(whole), doomed)
  // What others own in words of their own comes back.
  for (const version of elsewhere) {
    const theirs = versions.shapes(version)
    if (theirs === undefined) continue
    const all = convert(merged, apiVersion, version)
    const lost = compare(theirs.owned, all, convert(pruned, last.apiVersion, version)).removed
    pruned = convert(without(theirs.whole, all, unclaimed(theirs.whole, lost, claimedIn(version))), version, last.apiVersion)
  }
  // And nothing goes that was not applied.
  const gone = within(compare(shapes.owned, whole, pruned).removed, doomed)
  return convert(without(shapes.whole, whole, gone), last.apiVersion, apiVersion)
}

const without = (shape: Shape, object: object, fields: FieldSet): object => remove(shape, object, fields) as object // it stays one

/**
 * The fields of a set that nobody claims. A field of a struct in which nobody claims anything goes with all that is in it,
 * defaults too; so does an item or entry, which is a field itself. An item goes with what others own in it, for without its
 * keys it would be none: only who owns the item as such keeps it.
 */
function unclaimed (shape: Shape, fields: FieldSet, claims: FieldSet): FieldSet {
  const left: Array<[string, FieldSet]> = []
  for (const element of below(fields)) {
    const [mine, claimed] = [fields[element] ?? EMPTY, claims[element]]
    const child = childOf(shape, element)
    if (claimed === undefined) left.push([element, shape.kind === 'struct' ? EMPTY : mine])
    else if (shape.kind === 'items' && isMember(mine) && !isMember(claimed)) left.push([element, EMPTY])
    else {
      const sub = child === undefined ? EMPTY : unclaimed(child, mine, claimed)
      if (!isEmpty(sub)) left.push([element, sub])
    }
  }
  return part(false, left) ?? EMPTY
}

/** What of a set is a field of another one, or below one. */
function within (fields: FieldSet, others: FieldSet): FieldSet {
  const kept: Array<[string, FieldSet]> = []
  for (const element of below(fields)) {
    const [mine, other] = [fields[element] ?? EMPTY, others[element]]
    const sub = other === undefined ? EMPTY : isMember(other) ? mine : within(mine, other)
    if (other !== undefined && (isMember(other) || !isEmpty(sub))) kept.push([element, sub])
  }
  return part(false, kept) ?? EMPTY
}

function childOf (shape: Shape, element: string): Shape | undefined {
  switch (shape.kind) {
    case 'leaf': return undefined
    case 'struct': return shape.field(element.slice(2))
    default: return shape.item
  }
}
