/** Names who owns the fields that a refused change would have set wrongly. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { FieldError } from '../../schemas/status.js'
import { at } from '../apply/field-set.js'
import { managersIn } from '../apply/managers.js'
import { itemsOf, memberOf, membersOf, shapesOf, type Shape } from '../apply/shape.js'
import { fieldElement } from '../apply/elements.js'
import type { ResourceStore } from '../resource-store.js'

/** Findings beyond these get no owner. */
const MAX_FINDINGS = 20

/** Longer paths, which contain long keys of clients, get no owner. */
const MAX_PATH = 1000

/**
 * Members, list indexes and map keys of a field path: `spec.ports[0].port`, `metadata.labels[a.b/c]`. Sticky, so that
 * no bracket is looked at twice.
 */
const STEP = /\.?([^.[\]]+)|\[([^\]]*)\]/gy

export interface Refused {
  readonly findings: readonly FieldError[]
  /** The refused object, which the findings are about. */
  readonly object: ApiObject
  /** The stored one, whose managers own. */
  readonly old: ApiObject
  /** The manager of the request, who is not named. */
  readonly own: string
}

/** Adds the owners to findings. */
export function withOwners (
  { stored: { message }, gates }: ResourceStore, { findings, object, old, own }: Refused
): readonly FieldError[] {
  const managers = managersIn(old.metadata.managedFields)
  if (managers.length === 0) return findings
  const { owned } = shapesOf(message, gates)
  return findings.map((finding, index) => {
    const path = index < MAX_FINDINGS ? elementsOf(owned, object, finding.field) : []
    const owners = path.length === 0
      ? []
      : managers.filter(({ manager, fields }) => manager !== own && at(fields, path) !== undefined)
    return owners.length === 0 ? finding : { ...finding, owners: [...new Set(owners.map(({ manager }) => manager))] }
  })
}

/** The path in field sets, as far as fields are owned by parts. */
function elementsOf (whole: Shape, object: ApiObject, field: string): string[] {
  const path: string[] = []
  let shape = whole
  let value: unknown = object
  let end = 0
  for (const [text, member, inBrackets] of field.length > MAX_PATH ? [] : field.matchAll(STEP)) {
    end += text.length
    const step = member ?? inBrackets ?? ''
    if (shape.kind === 'leaf') return path
    if (shape.kind === 'items' || shape.kind === 'set') {
      value = itemsOf(value)[Number(step)]
      if (value === undefined) return []
      path.push(shape.elementOf(value))
      shape = shape.item
    } else {
      const next = shape.kind === 'entries' ? shape.item : shape.field(step)
      if (next === undefined) return []
      path.push(fieldElement(step))
      value = memberOf(membersOf(value), step)
      shape = next
    }
  }
  return end === field.length ? path : []
}
