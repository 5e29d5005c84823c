/**
 * Compares two objects of a type; the result is sets of fields. One walk over both objects; allocates only where they
 * differ.
 */
import { fieldElement, sortElements } from './elements.js'
import { part, asMember, subtractSubtrees, isMember, unionAll, EMPTY, type FieldSet } from './field-set.js'
import { wholePart } from './fields-of.js'
import { membersOf, memberOf, itemsOf, type Shape } from './shape.js'
import { isObject } from '../../schemas/language/values.js'

export interface Changes {
  /** Fields that were added or have another value. */
  readonly changed: FieldSet
  readonly removed: FieldSet
}

export const UNCHANGED: Changes = { changed: EMPTY, removed: EMPTY }

/** @param ignored fields to skip, with everything below them */
export function compare (shape: Shape, before: object, after: object, ignored = EMPTY): Changes {
  const { changed, removed } = differByMember(shape, before, after, ignored) ?? {}
  return changed === undefined && removed === undefined
    ? UNCHANGED
    : { changed: changed ?? EMPTY, removed: removed ?? EMPTY }
}

/** Partial results; undefined for an empty set. */
interface Parts { readonly changed: FieldSet | undefined, readonly removed: FieldSet | undefined }

const CHANGED: Parts = { changed: EMPTY, removed: undefined }

/** Removes ignored fields from partial results. */
function outside (parts: Parts | undefined, ignored: FieldSet): Parts | undefined {
  const left = (part: FieldSet | undefined): FieldSet | undefined =>
    part === undefined ? undefined : subtractSubtrees(part, ignored)
  return parts === undefined ? undefined : { changed: left(parts.changed), removed: left(parts.removed) }
}

class PartsBuilder {
  #changed: Array<[string, FieldSet]> | undefined
  #removed: Array<[string, FieldSet]> | undefined

  add (element: string, { changed, removed }: Parts): void {
    if (changed !== undefined) (this.#changed ??= []).push([element, changed])
    if (removed !== undefined) (this.#removed ??= []).push([element, removed])
  }

  parts (): Parts | undefined {
    if (this.#changed === undefined && this.#removed === undefined) return undefined
    return { changed: part(false, inOrder(this.#changed ?? [])), removed: part(false, inOrder(this.#removed ?? [])) }
  }
}

function inOrder (members: ReadonlyArray<[string, FieldSet]>): ReadonlyArray<[string, FieldSet]> {
  if (members.length < 2) return members
  const byElement = new Map(members)
  return sortElements([...byElement.keys()]).map(element => [element, byElement.get(element) ?? EMPTY])
}

function differ (shape: Shape, a: unknown, b: unknown): Parts | undefined {
  if (a === b) return undefined
  if (a === undefined) return { changed: wholePart(shape, b), removed: undefined }
  if (b === undefined) return { changed: undefined, removed: wholePart(shape, a) }
  switch (shape.kind) {
    case 'leaf': return shape.same(a, b) ? undefined : CHANGED
    case 'items':
    case 'set':
      return (a === null) !== (b === null) && itemsOf(a).length + itemsOf(b).length === 0
        ? CHANGED
        : differByItem(shape, itemsOf(a), itemsOf(b))
    case 'open': return areMembers(a, b) ? differByMember(shape, a, b) : differOpen(shape, a, b)
    default: return differByMember(shape, a, b)
  }
}

/** Compare null with a non-empty object by members, as for a missing value. */
function areMembers (a: unknown, b: unknown): boolean {
  if (isObject(a)) return isObject(b) || (b === null && Object.keys(a).length > 0)
  return a === null && isObject(b) && Object.keys(b).length > 0
}

/** Compares values of open fields. */
function differOpen (shape: Shape, a: unknown, b: unknown): Parts | undefined {
  if (!isObject(a) && !isObject(b)) return shape.same(a, b) ? undefined : CHANGED
  return { changed: wholePart(shape, b), removed: isObject(a) ? wholePart(shape, a) : undefined }
}

/**
 * Looks only at members that one of the two has, because most fields of large structs are unset. This runs over the
 * whole object on every write, so it allocates nothing until something differs.
 */
function differByMember (shape: Shape, a: unknown, b: unknown, ignored = EMPTY): Parts | undefined {
  const before = membersOf(a)
  const after = membersOf(b)
  let builder: PartsBuilder | undefined
  let sides: Sides | undefined
  let added = 0
  for (const name in before) { // plain data: no inherited names
    const beforeValue = before[name]
    const afterValue = memberOf(after, name)
    if (afterValue !== undefined) added--
    if (beforeValue !== afterValue) builder = collectMember(builder, sides ??= { shape, before, after, ignored }, name)
  }
  // oxlint-disable-next-line no-unused-vars -- Object.keys would allocate a list
  for (const _ in after) added++
  if (added === 0) return builder?.parts()
  for (const name in after) {
    if (Object.hasOwn(before, name)) continue
    builder = collectMember(builder, sides ??= { shape, before, after, ignored }, name)
  }
  return builder?.parts()
}

interface Sides {
  readonly shape: Shape
  readonly before: Record<string, unknown>
  readonly after: Record<string, unknown>
  readonly ignored: FieldSet
}

/** Adds the difference of one member, if any. */
function collectMember (builder: PartsBuilder | undefined, sides: Sides, name: string): PartsBuilder | undefined {
  const { shape, before, after, ignored } = sides
  const beforeValue = memberOf(before, name)
  const afterValue = memberOf(after, name)
  const declared = shape.declared(name)
  if (declared === undefined) {
    const item = shape.kind === 'entries' ? shape.item : shape.field(name)
    return item === undefined
      ? builder
      : collect(builder, fieldElement(name), differAsItem(item, beforeValue, afterValue))
  }
  const skipped = ignored[declared.element]
  if (skipped !== undefined && isMember(skipped)) return builder
  const parts = differ(declared, declared.present(beforeValue), declared.present(afterValue))
  return collect(builder, declared.element, skipped === undefined ? parts : outside(parts, skipped))
}

function collect (
  builder: PartsBuilder | undefined, element: string, parts: Parts | undefined
): PartsBuilder | undefined {
  if (parts === undefined) return builder
  const all = builder ?? new PartsBuilder()
  all.add(element, parts)
  return all
}

/** For items and map entries: an added or removed one is a field itself, besides its contents. */
function differAsItem (shape: Shape, a: unknown, b: unknown): Parts | undefined {
  const parts = differ(shape, a, b)
  if (parts === undefined || (a !== undefined && b !== undefined)) return parts
  return a === undefined
    ? { changed: asMember(parts.changed ?? EMPTY), removed: undefined }
    : { changed: undefined, removed: asMember(parts.removed ?? EMPTY) }
}

function differByItem (shape: Shape, a: readonly unknown[], b: readonly unknown[]): Parts | undefined {
  let builder: PartsBuilder | undefined
  if (areInPlace(shape, a, b)) {
    for (let index = 0; index < a.length; index++) {
      const parts = differ(shape.item, a[index], b[index])
      if (parts !== undefined) builder = collect(builder, shape.elementOf(a[index]), parts)
    }
    if (builder === undefined || !hasTwins(shape, a)) return builder?.parts()
    builder = undefined
  }
  const [before, after] = [byElement(shape, a), byElement(shape, b)]
  for (const [element, items] of before) {
    builder = collect(builder, element, differItems(shape.item, items, after.get(element) ?? []))
  }
  for (const [element, items] of after) {
    if (!before.has(element)) builder = collect(builder, element, differItems(shape.item, [], items))
  }
  return builder?.parts()
}

/** Fast path: items usually keep their places, so equal items need no key elements. */
function areInPlace (shape: Shape, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (!shape.sameItem(a[index], b[index])) return false
  return true
}

/** Whether several items have the same keys. */
function hasTwins (shape: Shape, items: readonly unknown[]): boolean {
  const [key, ...more] = shape.keys
  const keyOf = key === undefined
    ? (item: unknown) => item
    : more.length === 0
      ? (item: unknown) => shape.keyOf(item, key)
      : (item: unknown) => shape.elementOf(item)
  return new Set(items.map(keyOf)).size < items.length
}

function byElement (shape: Shape, items: readonly unknown[]): Map<string, unknown[]> {
  const byKey = new Map<string, unknown[]>()
  for (const item of items) {
    const element = shape.elementOf(item)
    const same = byKey.get(element)
    if (same === undefined) byKey.set(element, [item])
    else same.push(item)
  }
  return byKey
}

/** Items with the same keys are indistinguishable, so they change as one. */
function differItems (shape: Shape, a: readonly unknown[], b: readonly unknown[]): Parts | undefined {
  if (a.length <= 1 && b.length <= 1) return differAsItem(shape, a[0], b[0])
  if (b.length === 0) return { changed: undefined, removed: asMember(unionAll(a.map(item => wholePart(shape, item)))) }
  if (b.length === 1) return { changed: asMember(wholePart(shape, b[0])), removed: undefined }
  return a.length === b.length && a.every((item, index) => differ(shape, item, b[index]) === undefined)
    ? undefined
    : CHANGED
}
