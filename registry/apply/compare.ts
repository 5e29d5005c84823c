/**
 * Compares two objects of a type; the result is sets of fields. One walk over both objects, which makes no sets
 * where they agree.
 */
import { fieldElement } from './elements.js'
import { asMember, subtractSubtrees, isMember, unionAll, EMPTY, type FieldSet } from './field-set.js'
import { wholePart } from './fields-of.js'
import { inSteps, ITEMS_PER_STEP, SHORT_LIST, type LongLists } from './long-lists.js'
import { CHANGED, PartsBuilder, type Parts } from './parts.js'
import { membersOf, memberOf, itemsOf, type Shape } from './shape.js'
import { isObject } from '../../schemas/language/values.js'
import { finish, type Steps } from '../../schemas/steps.js'

export interface Changes {
  /** Fields that were added or have another value. */
  readonly changed: FieldSet
  readonly removed: FieldSet
}

export const UNCHANGED: Changes = { changed: EMPTY, removed: EMPTY }

/** @param ignored fields to skip, with everything below them */
export const compare = (shape: Shape, before: object, after: object, ignored = EMPTY): Changes =>
  changesOf(differByMember(shape, before, after, { ignored }))

/** The same in steps, as lists may have thousands of items. */
export function * comparing (shape: Shape, before: object, after: object, ignored = EMPTY): Steps<Changes> {
  return changesOf(yield * inSteps(long => differByMember(shape, before, after, { ignored, long })))
}

interface Walk {
  /** Within the two objects themselves; nothing is ignored below. */
  readonly ignored: FieldSet
  /** Absent where everything is compared at once. */
  readonly long?: LongLists | undefined
}

const changesOf = ({ changed, removed }: Partial<Parts> = {}): Changes =>
  changed === undefined && removed === undefined
    ? UNCHANGED
    : { changed: changed ?? EMPTY, removed: removed ?? EMPTY }

/** Removes ignored fields from partial results. */
function outside (parts: Parts | undefined, ignored: FieldSet): Parts | undefined {
  const left = (part: FieldSet | undefined): FieldSet | undefined =>
    part === undefined ? undefined : subtractSubtrees(part, ignored)
  return parts === undefined ? undefined : { changed: left(parts.changed), removed: left(parts.removed) }
}

function differ (shape: Shape, a: unknown, b: unknown, long?: LongLists): Parts | undefined {
  if (a === b) return undefined
  if (a === undefined) return { changed: wholePart(shape, b, long), removed: undefined }
  if (b === undefined) return { changed: undefined, removed: wholePart(shape, a, long) }
  switch (shape.kind) {
    case 'leaf': return shape.same(a, b) ? undefined : CHANGED
    case 'items':
    case 'set':
      return (a === null) !== (b === null) && itemsOf(a).length + itemsOf(b).length === 0
        ? CHANGED
        : differByItem(shape, itemsOf(a), itemsOf(b), long)
    case 'open':
      return areMembers(a, b) ? differByMember(shape, a, b, { ignored: EMPTY, long }) : differOpen(shape, a, b)
    default: return differByMember(shape, a, b, { ignored: EMPTY, long })
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

/** Looks only at members that one of the two has, because most fields of large structs are unset. */
function differByMember (shape: Shape, a: unknown, b: unknown, walk: Walk): Parts | undefined {
  const before = membersOf(a)
  const after = membersOf(b)
  const sides = { shape, before, after, walk }
  let builder: PartsBuilder | undefined
  let added = Object.keys(after).length
  for (const name in before) { // plain data: no inherited names
    const beforeValue = before[name]
    const afterValue = memberOf(after, name)
    if (afterValue !== undefined) added--
    if (beforeValue === afterValue) continue
    builder = collectMember(builder, sides, name)
    if (isLong(builder, walk)) return walk.long.result(before, () => differingByMember(sides))
  }
  if (added === 0) return builder?.parts()
  for (const name in after) {
    if (Object.hasOwn(before, name)) continue
    builder = collectMember(builder, sides, name)
    if (isLong(builder, walk)) return walk.long.result(after, () => differingByMember(sides))
  }
  return builder?.parts()
}

const isLong = (builder: PartsBuilder | undefined, walk: Walk): walk is Walk & { readonly long: LongLists } =>
  walk.long !== undefined && builder !== undefined && builder.size > SHORT_LIST

function * differingByMember ({ shape, before, after, walk: { ignored } }: Sides): Steps<Parts | undefined> {
  const builder = new PartsBuilder()
  let count = 0
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (++count % ITEMS_PER_STEP === 0) yield
    const sides = (long: LongLists): Sides => ({ shape, before, after, walk: { ignored, long } })
    const collected = yield * inSteps(long => collectMember(undefined, sides(long), name))
    if (collected !== undefined) builder.addAll(collected)
  }
  return yield * builder.partsInSteps()
}

interface Sides {
  readonly shape: Shape
  readonly before: Record<string, unknown>
  readonly after: Record<string, unknown>
  readonly walk: Walk
}

/** Adds the difference of one member, if any. */
function collectMember (builder: PartsBuilder | undefined, sides: Sides, name: string): PartsBuilder | undefined {
  const { shape, before, after, walk: { ignored, long } } = sides
  const beforeValue = memberOf(before, name)
  const afterValue = memberOf(after, name)
  const declared = shape.declared(name)
  if (declared === undefined) {
    const item = shape.kind === 'entries' ? shape.item : shape.field(name)
    return item === undefined
      ? builder
      : collect(builder, fieldElement(name), differAsItem(item, beforeValue, afterValue, long))
  }
  const skipped = ignored[declared.element]
  if (skipped !== undefined && isMember(skipped)) return builder
  const parts = differ(declared, declared.present(beforeValue), declared.present(afterValue), long)
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
function differAsItem (shape: Shape, a: unknown, b: unknown, long?: LongLists): Parts | undefined {
  const parts = differ(shape, a, b, long)
  if (parts === undefined || (a !== undefined && b !== undefined)) return parts
  return a === undefined
    ? { changed: asMember(parts.changed ?? EMPTY), removed: undefined }
    : { changed: undefined, removed: asMember(parts.removed ?? EMPTY) }
}

function differByItem (
  shape: Shape, a: readonly unknown[], b: readonly unknown[], long?: LongLists
): Parts | undefined {
  const isLong = long !== undefined && a.length + b.length > SHORT_LIST
  let builder: PartsBuilder | undefined
  if (areInPlace(shape, a, b)) {
    for (let index = 0; index < a.length && !(isLong && builder !== undefined); index++) {
      const parts = differ(shape.item, a[index], b[index], long)
      if (parts !== undefined) builder = collect(builder, shape.elementOf(a[index]), parts)
    }
    if (builder === undefined || (!isLong && !hasTwins(shape, a))) return builder?.parts()
  }
  return isLong
    ? long.result(a.length > b.length ? a : b, () => differingByElement(shape, a, b))
    : finish(differingByElement(shape, a, b, long))
}

/** @param long of the walk, if short lists are compared at once */
function * differingByElement (
  shape: Shape, a: readonly unknown[], b: readonly unknown[], long?: LongLists
): Steps<Parts | undefined> {
  const [builder, before, after] = [new PartsBuilder(), yield * byElement(shape, a), yield * byElement(shape, b)]
  let count = 0
  for (const element of new Set([...before.keys(), ...after.keys()])) {
    if (++count % ITEMS_PER_STEP === 0) yield
    const [older, newer] = [before.get(element) ?? [], after.get(element) ?? []]
    const parts = long === undefined
      ? yield * inSteps(lists => differItems(shape.item, older, newer, lists))
      : differItems(shape.item, older, newer, long)
    collect(builder, element, parts)
  }
  return yield * builder.partsInSteps()
}

/**
 * Items usually keep their places, so equal items need no key elements. Benchmark: `npm run bench -- owners`, 'update
 * of a Deployment with owners, beside one without'.
 */
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

function * byElement (shape: Shape, items: readonly unknown[]): Steps<Map<string, unknown[]>> {
  const byKey = new Map<string, unknown[]>()
  for (const [index, item] of items.entries()) {
    if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield
    const element = shape.elementOf(item)
    const same = byKey.get(element)
    if (same === undefined) byKey.set(element, [item])
    else same.push(item)
  }
  return byKey
}

/** Items with the same keys are indistinguishable, so they change as one. */
function differItems (
  shape: Shape, a: readonly unknown[], b: readonly unknown[], long?: LongLists
): Parts | undefined {
  if (a.length <= 1 && b.length <= 1) return differAsItem(shape, a[0], b[0], long)
  if (b.length === 0) return { changed: undefined, removed: asMember(unionAll(a.map(item => wholePart(shape, item)))) }
  if (b.length === 1) return { changed: asMember(wholePart(shape, b[0])), removed: undefined }
  return a.length === b.length && a.every((item, index) => differ(shape, item, b[index]) === undefined)
    ? undefined
    : CHANGED
}
