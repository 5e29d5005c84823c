/** Computes the field set of an object. */
import { compareValues, fieldElement, sortElements } from './elements.js'
import { without, isEmpty, part, asMember, EMPTY, type FieldSet } from './field-set.js'
import { inSteps, ITEMS_PER_STEP, SHORT_LIST, type LongLists } from './long-lists.js'
import { membersOf, memberOf, itemsOf, type Shape } from './shape.js'
import { isObject } from '../../schemas/language/values.js'
import type { Steps } from '../../schemas/steps.js'

/**
 * The fields that an applier of the object owns: leaves, items, map entries, empty maps and structs, but not structs,
 * lists and maps with contents. An empty list that merges says nothing about its items, so nobody owns it; owning it
 * would conflict with the next applier's items.
 */
export function * fieldsOf (shape: Shape, object: object): Steps<FieldSet> {
  const fields = (yield * inSteps(long => partOf(shape, object, { holders: false, long }))) ?? EMPTY
  const { 'f:metadata': metadata } = fields
  // decoding always adds metadata
  return metadata !== undefined && isEmpty(metadata) ? without(fields, METADATA) : fields
}

const METADATA: FieldSet = { 'f:metadata': EMPTY }

interface Wanted {
  /** Whether containers are fields, too. */
  readonly holders: boolean
  /** Absent where everything is done at once. */
  readonly long?: LongLists | undefined
}

/** The node of an added or removed value: all its fields, containers included. */
export const wholePart = (shape: Shape, value: unknown, long?: LongLists): FieldSet =>
  partOf(shape, value, long === undefined ? WHOLE : { holders: true, long }) ?? EMPTY

const WHOLE: Wanted = { holders: true }

/** Undefined for an applied list without items. */
function partOf (shape: Shape, value: unknown, wanted: Wanted): FieldSet | undefined {
  if (value === null) return EMPTY
  switch (shape.kind) {
    case 'leaf': return EMPTY
    case 'struct': return part(wanted.holders, declared(shape, value, wanted)) ?? EMPTY
    case 'open':
    case 'entries':
      return isObject(value) ? part(wanted.holders, entries(shape, value, Object.keys(value), wanted)) ?? EMPTY : EMPTY
    default: return part(wanted.holders, items(shape, value, wanted))
  }
}

function declared (shape: Shape, value: unknown, wanted: Wanted): Array<[string, FieldSet]> {
  const object = membersOf(value)
  const members: Array<[string, FieldSet]> = []
  for (const field of shape.fields) {
    // An applier does not own fields that decoding adds.
    const own = memberOf(object, field.name)
    const present = wanted.holders ? field.present(own) : own
    const fields = present === undefined ? undefined : partOf(field, present, wanted)
    if (fields !== undefined) members.push([field.element, fields])
  }
  return shape.open ? [...members, ...undeclared(shape, object, wanted)] : members
}

function undeclared (
  shape: Shape, object: Readonly<Record<string, unknown>>, wanted: Wanted
): Array<[string, FieldSet]> {
  const declared = new Set(shape.fields.map(({ name }) => name))
  return entries(shape, object, Object.keys(object).filter(name => !declared.has(name) &&
    shape.field(name) !== undefined), wanted)
}

function entries (
  shape: Shape, object: Readonly<Record<string, unknown>>, names: readonly string[], wanted: Wanted
): Array<[string, FieldSet]> {
  if (wanted.long !== undefined && names.length > SHORT_LIST) {
    return wanted.long.result(object, () => manyEntries(shape, object, names, wanted.holders)) ?? []
  }
  return sortElements(names.map(fieldElement)).map(element => [element, entry(shape, object, element, wanted)])
}

function * manyEntries (
  shape: Shape, object: Readonly<Record<string, unknown>>, names: readonly string[], holders: boolean
): Steps<Array<[string, FieldSet]>> {
  const members: Array<[string, FieldSet]> = []
  yield
  for (const [index, element] of sortElements(names.map(fieldElement)).entries()) {
    if (index % ITEMS_PER_STEP === 0) yield
    members.push([element, yield * inSteps(long => entry(shape, object, element, { holders, long }))])
  }
  return members
}

function entry (
  shape: Shape, object: Readonly<Record<string, unknown>>, element: string, wanted: Wanted
): FieldSet {
  const name = element.slice(2)
  const item = shape.kind === 'entries' ? shape.item : shape.field(name) ?? shape.item
  return asMember(partOf(item, object[name], wanted) ?? EMPTY)
}

/** Items with the same keys are owned as one. */
function items (shape: Shape, value: unknown, wanted: Wanted): Array<[string, FieldSet]> {
  const [list, members] = [itemsOf(value), [] as Array<[string, FieldSet]>]
  if (wanted.long !== undefined && list.length > SHORT_LIST) {
    return wanted.long.result(list, () => manyItems(shape, list, wanted.holders)) ?? members
  }
  for (const item of inOrder(shape, list)) addItem(members, shape, item, wanted)
  return members
}

function * manyItems (shape: Shape, list: readonly unknown[], holders: boolean): Steps<Array<[string, FieldSet]>> {
  const members: Array<[string, FieldSet]> = []
  yield
  for (const [index, item] of inOrder(shape, list).entries()) {
    if (index % ITEMS_PER_STEP === 0) yield
    const before = members.length
    yield * inSteps(long => {
      members.length = before
      addItem(members, shape, item, { holders, long })
    })
  }
  return members
}

function addItem (members: Array<[string, FieldSet]>, shape: Shape, item: unknown, wanted: Wanted): void {
  const element = shape.elementOf(item)
  const last = members.at(-1)
  if (last?.[0] === element) last[1] = EMPTY
  else members.push([element, asMember(partOf(shape.item, item, wanted) ?? EMPTY)])
}

/** Sorts items like their elements, without parsing these. */
function inOrder (shape: Shape, items: readonly unknown[]): readonly unknown[] {
  if (items.length < 2) return items
  const [main] = shape.keys
  const keyed = items.map(item => ({ item, key: main === undefined ? item : shape.keyOf(item, main) ?? null }))
  return keyed.sort((a, b) => compareValues(a.key, b.key) || shape.compareItems(a.item, b.item)).map(({ item }) => item)
}
