/** Computes the field set of an object. */
import { compareValues, fieldElement, sortElements } from './elements.js'
import { without, isEmpty, part, asMember, EMPTY, type FieldSet } from './field-set.js'
import { membersOf, memberOf, itemsOf, type Shape } from './shape.js'
import { isObject } from '../../schemas/language/values.js'

/**
 * The fields that an applier of the object owns: leaves, items, map entries, empty maps and structs, but not structs,
 * lists and maps with contents. An empty list that merges says nothing about its items, so nobody owns it; owning it
 * would conflict with the next applier's items.
 */
export function fieldsOf (shape: Shape, object: object): FieldSet {
  const fields = partOf(shape, object, false) ?? EMPTY
  const { 'f:metadata': metadata } = fields
  // decoding always adds metadata
  return metadata !== undefined && isEmpty(metadata) ? without(fields, METADATA) : fields
}

const METADATA: FieldSet = { 'f:metadata': EMPTY }

/** The node of an added or removed value: all its fields, containers included. */
export const wholePart = (shape: Shape, value: unknown): FieldSet => partOf(shape, value, true) ?? EMPTY

/** Undefined for an applied list without items. */
function partOf (shape: Shape, value: unknown, holders: boolean): FieldSet | undefined {
  if (value === null) return EMPTY
  switch (shape.kind) {
    case 'leaf': return EMPTY
    case 'struct': return part(holders, declared(shape, value, holders)) ?? EMPTY
    case 'open':
    case 'entries':
      return isObject(value) ? part(holders, entries(shape, value, Object.keys(value), holders)) ?? EMPTY : EMPTY
    default: return part(holders, items(shape, value, holders))
  }
}

function declared (shape: Shape, value: unknown, holders: boolean): Array<[string, FieldSet]> {
  const object = membersOf(value)
  const members: Array<[string, FieldSet]> = []
  for (const field of shape.fields) {
    // An applier does not own fields that decoding adds.
    const own = memberOf(object, field.name)
    const present = holders ? field.present(own) : own
    const fields = present === undefined ? undefined : partOf(field, present, holders)
    if (fields !== undefined) members.push([field.element, fields])
  }
  return shape.open ? [...members, ...undeclared(shape, object, holders)] : members
}

function undeclared (
  shape: Shape, object: Readonly<Record<string, unknown>>, holders: boolean
): Array<[string, FieldSet]> {
  const declared = new Set(shape.fields.map(({ name }) => name))
  return entries(shape, object, Object.keys(object).filter(name => !declared.has(name) &&
    shape.field(name) !== undefined), holders)
}

function entries (
  shape: Shape, object: Readonly<Record<string, unknown>>, names: readonly string[], holders: boolean
): Array<[string, FieldSet]> {
  return sortElements(names.map(fieldElement)).map(element => {
    const name = element.slice(2)
    const item = shape.kind === 'entries' ? shape.item : shape.field(name) ?? shape.item
    return [element, asMember(partOf(item, object[name], holders) ?? EMPTY)]
  })
}

/** Items with the same keys are owned as one. */
function items (shape: Shape, value: unknown, holders: boolean): Array<[string, FieldSet]> {
  const members: Array<[string, FieldSet]> = []
  for (const item of inOrder(shape, itemsOf(value))) {
    const element = shape.elementOf(item)
    const last = members.at(-1)
    if (last?.[0] === element) last[1] = EMPTY
    else members.push([element, asMember(partOf(shape.item, item, holders) ?? EMPTY)])
  }
  return members
}

/** Sorts items like their elements, without parsing these. */
function inOrder (shape: Shape, items: readonly unknown[]): readonly unknown[] {
  if (items.length < 2) return items
  const [main] = shape.keys
  const keyed = items.map(item => ({ item, key: main === undefined ? item : shape.keyOf(item, main) ?? null }))
  return keyed.sort((a, b) => compareValues(a.key, b.key) || shape.compareItems(a.item, b.item)).map(({ item }) => item)
}
