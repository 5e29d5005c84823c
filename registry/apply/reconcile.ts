/**
 * Sets of fields of a type that was declared otherwise when they were written. Who owned a part of what is owned as one now owns it as
 * one. What was owned as one and is owned by parts now stays as it is: nobody can say which of its parts were meant.
 */
import { EMPTY, below, isEmpty, isMember, part } from './field-set.js'
import type { FieldSet } from './field-set.js'
import type { Manager } from './managers.js'
import { childOf } from './shape.js'
import type { Shape } from './shape.js'
import type { Versions } from './versions.js'

/** The very same manager when its set is in the words of its version. */
export function reconciled (manager: Manager, versions: Versions): Manager {
  const shapes = versions.shapes(manager.apiVersion)
  if (shapes === undefined) return manager
  const fields = ofShape(shapes.owned, manager.fields, false)
  return fields === manager.fields ? manager : { ...manager, fields }
}

function ofShape (shape: Shape, fields: FieldSet, member = isMember(fields)): FieldSet {
  let same = true
  const found = below(fields).map((element): [string, FieldSet] => {
    const mine = fields[element] ?? EMPTY
    const child = childOf(shape, element)
    const now = isEmpty(mine) || child === undefined ? mine : child.kind === 'leaf' ? EMPTY : ofShape(child, mine)
    if (now !== mine) same = false
    return [element, now]
  })
  return same ? fields : part(member, found) ?? EMPTY
}
