/**
 * Adapts field sets to a type whose schema changed, as those of definitions do, or that merged otherwise in the release
 * that wrote them. Owners of a part of a field that became atomic now own all of it. A field that was atomic and became
 * granular keeps its set, because the owned parts are unknown.
 */
import { isEmpty, part, childElements, isMember, EMPTY, type FieldSet } from './field-set.js'
import type { Manager } from './managers.js'
import { childOf, type Shape } from './shape.js'
import type { Versions } from './versions.js'

/**
 * Returns the same manager if its set already fits the schema.
 * @param everywhere rather than only what differs between releases
 */
export function reconciled (manager: Manager, versions: Versions, everywhere: boolean): Manager {
  const shapes = versions.shapes(manager.apiVersion)
  if (shapes === undefined) return manager
  const fields = ofShape(shapes.owned, manager.fields, { everywhere, member: false })
  return fields === manager.fields ? manager : { ...manager, fields }
}

function ofShape (
  shape: Shape, fields: FieldSet, { everywhere, member = isMember(fields) }: { everywhere: boolean, member?: boolean }
): FieldSet {
  if (!everywhere && !shape.variesByRelease) return fields
  let same = true
  const children = childElements(fields).map((element): [string, FieldSet] => {
    const mine = fields[element] ?? EMPTY
    const child = childOf(shape, element)
    const now = isEmpty(mine) || child === undefined
      ? mine
      : child.kind === 'leaf' ? EMPTY : ofShape(child, mine, { everywhere })
    if (now !== mine) same = false
    return [element, now]
  })
  return same ? fields : part(member, children) ?? EMPTY
}
