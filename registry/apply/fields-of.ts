/** The set of fields an object has. */
import { compareValues, fieldElement, sortElements } from './elements.js'
import { EMPTY, asMember, isEmpty, part, without } from './field-set.js'
import type { FieldSet } from './field-set.js'
import { isObject, itemsOf, memberOf, membersOf } from './shape.js'
import type { Shape } from './shape.js'

/**
 * What whoever applies the object owns: leaves, items, entries of maps, and what is empty; of structs, lists and maps that
 * have something in them, only that.
 */
export function fieldsOf (shape: Shape, object: object): FieldSet {
  const fields = partOf(shape, object, false)
  const { 'f:metadata': metadata } = fields
  return metadata !== undefined && isEmpty(metadata) ? without(fields, METADATA) : fields // it is always there
}

const METADATA: FieldSet = { 'f:metadata': EMPTY }

/** The part of a set for a value that was not there before, or is there no longer: all of it, what holds others too. */
export const wholePart = (shape: Shape, value: unknown): FieldSet => partOf(shape, value, true)

function partOf (shape: Shape, value: unknown, holders: boolean): FieldSet {
  if (value === null) return EMPTY
  switch (shape.kind) {
    case 'leaf': return EMPTY
    case 'struct': return part(holders, declared(shape, value, holders)) ?? EMPTY
    case 'open':
    case 'entries': return isObject(value) ? part(holders, entries(shape, value, Object.keys(value), holders)) ?? EMPTY : EMPTY
    default: return part(holders, items(shape, value, holders)) ?? EMPTY
  }
}

function declared (shape: Shape, value: unknown, holders: boolean): Array<[string, FieldSet]> {
  const object = membersOf(value)
  const found: Array<[string, FieldSet]> = []
  for (const field of shape.fields) {
    // What is only there because it always is belongs to nobody who applies.
    const own = memberOf(object, field.name)
    const there = holders ? field.present(own) : own
    if (there !== undefined) found.push([field.element, partOf(field, there, holders)])
  }
  return shape.open ? [...found, ...undeclared(shape, object, holders)] : found
}

function undeclared (shape: Shape, object: Readonly<Record<string, unknown>>, holders: boolean): Array<[string, FieldSet]> {
  const declared = new Set(shape.fields.map(({ name }) => name))
  return entries(shape, object, Object.keys(object).filter(name => !declared.has(name) && shape.field(name) !== undefined), holders)
}

function entries (shape: Shape, object: Readonly<Record<string, unknown>>, names: readonly string[], holders: boolean): Array<[string, FieldSet]> {
  return sortElements(names.map(fieldElement)).map(element => {
    const name = element.slice(2)
    return [element, asMember(partOf(shape.kind === 'entries' ? shape.item : shape.field(name) ?? shape.item, object[name], holders))]
  })
}

/** Items that have the same keys are owned as one, whatever is in them. */
function items (shape: Shape, value: unknown, holders: boolean): Array<[string, FieldSet]> {
  const found: Array<[string, FieldSet]> = []
  for (const item of inOrder(shape, itemsOf(value))) {
    const element = shape.elementOf(item)
    const last = found.at(-1)
    if (last?.[0] === element) last[1] = EMPTY
    else found.push([element, asMember(partOf(shape.item, item, holders))])
  }
  return found
}

/** As their elements are sorted, which would have to be read for that. */
function inOrder (shape: Shape, items: readonly unknown[]): readonly unknown[] {
  if (items.length < 2) return items
  const [main] = shape.keys
  const keyed = items.map(item => ({ item, key: main === undefined ? item : shape.keyOf(item, main) ?? null }))
  return keyed.sort((a, b) => compareValues(a.key, b.key) || shape.compareItems(a.item, b.item)).map(({ item }) => item)
}
