/**
 * Field sets as trees in wire form, so that stored sets need no parsing: `{"f:spec":{"f:replicas":{}}}`. An empty node
 * is a field of the set, and so is a node that contains `.`. Sets are immutable, share parts, and keep their elements
 * in canonical order.
 */
import type { Steps } from '../../schemas/steps.js'
import { SELF, parseElement, sortElements } from './elements.js'

export interface FieldSet { readonly [element: string]: FieldSet }

/** The empty set; as a part of a set, a field with nothing below it. */
export const EMPTY: FieldSet = Object.freeze({})

export const isEmpty = (set: FieldSet): boolean => Object.keys(set).length === 0

/** Whether a node is itself a field of the set. */
export const isMember = (part: FieldSet): boolean => part[SELF] !== undefined || isEmpty(part)

/** The elements below a node. */
export function childElements (part: FieldSet): string[] {
  const elements = Object.keys(part)
  return part[SELF] === undefined ? elements : elements.filter(element => element !== SELF)
}

/** Builds a node from `children` in canonical order; undefined if it would be empty. */
export function part (member: boolean, children: ReadonlyArray<readonly [string, FieldSet]>): FieldSet | undefined {
  if (children.length === 0) return member ? EMPTY : undefined
  const set: Record<string, FieldSet> = member ? { [SELF]: EMPTY } : {}
  for (const [element, child] of children) set[element] = child
  return set
}

/** The node as a field itself, with everything below it. */
export const asMember = (node: FieldSet): FieldSet => isMember(node) ? node : { [SELF]: EMPTY, ...node }

/** Whether adding `fields` to the set would leave it unchanged. */
export function holds (set: FieldSet, fields: FieldSet): boolean {
  for (const element in fields) {
    const [mine, other] = [set[element], fields[element] as FieldSet] // its own element
    if (mine === undefined || !(isEmpty(other) ? isEmpty(mine) : holds(mine, other))) return false
  }
  return true
}

export function union (a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b
  return isEmpty(b) ? a : unionWith(a, b, false)
}

/** Merges many sets at once; pairwise unions would rebuild the result for each. */
export const unionAll = (sets: readonly FieldSet[]): FieldSet => unionOfAll(sets, false)

function unionOfAll (sets: readonly FieldSet[], member: boolean): FieldSet {
  const byElement = new Map<string, FieldSet[]>()
  for (const set of sets) {
    for (const element of childElements(set)) {
      const parts = byElement.get(element)
      if (parts === undefined) byElement.set(element, [set[element] as FieldSet]) // its own element
      else parts.push(set[element] as FieldSet) // likewise
    }
  }
  // the length is 1
  const join = (parts: readonly FieldSet[]): FieldSet =>
    parts.length === 1 ? parts[0] as FieldSet : unionOfAll(parts, parts.some(isMember))
  return part(member, sortElements([...byElement.keys()]).map(element =>
    [element, join(byElement.get(element) ?? [])])) ?? EMPTY
}

const unionOfParts = (a: FieldSet, b: FieldSet): FieldSet => a === b ? a : unionWith(a, b, isMember(a) || isMember(b))

function unionWith (a: FieldSet, b: FieldSet, member: boolean): FieldSet {
  const added: string[] = []
  const changed = new Map<string, FieldSet>()
  for (const element of childElements(b)) {
    const [mine, other] = [a[element], b[element] as FieldSet] // its own element
    if (mine === undefined) added.push(element)
    const both = mine === undefined ? other : unionOfParts(mine, other)
    if (both !== mine) changed.set(element, both)
  }
  if (changed.size === 0 && (!member || isMember(a))) return a
  const elements = childElements(a)
  const all = added.length === 0 ? elements : sortElements([...elements, ...added])
  // from one of both
  return part(member, all.map(element => [element, changed.get(element) ?? a[element] as FieldSet])) ?? EMPTY
}

/** The fields of `a` that are not in `b`; fields below a field of `b` stay. Returns `a` itself if nothing changes. */
export function difference (a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(a) ? a : remainder(a, b, false) ?? EMPTY
}

function remainder (a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  let same = member === (a[SELF] !== undefined || isEmpty(a))
  const children: Array<[string, FieldSet]> = []
  for (const element of childElements(a)) {
    const [mine, other] = [a[element] as FieldSet, b[element]] // its own element
    const left = other === undefined ? mine : remainder(mine, other, isMember(mine) && !isMember(other))
    if (left !== mine) same = false
    if (left !== undefined) children.push([element, left])
  }
  return same ? a : part(member, children)
}

export function intersection (a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(a) || isEmpty(b) ? EMPTY : shared(a, b, false) ?? EMPTY
}

function shared (a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const children: Array<[string, FieldSet]> = []
  for (const element of childElements(b)) {
    const [mine, other] = [a[element], b[element] as FieldSet] // its own element
    const both = mine === undefined ? undefined : shared(mine, other, isMember(mine) && isMember(other))
    if (both !== undefined) children.push([element, both])
  }
  return part(member, children)
}

/** The set without the given fields and everything below them. Returns the same set if nothing changes. */
export function without (set: FieldSet, others: FieldSet): FieldSet {
  return isEmpty(others) ? set : subtractSubtrees(set, others, false) ?? EMPTY
}

/** `without` for a node; undefined if nothing remains. */
export function subtractSubtrees (set: FieldSet, others: FieldSet, member = isMember(set)): FieldSet | undefined {
  let same = true
  const kept: Array<[string, FieldSet]> = []
  for (const element of childElements(set)) {
    const [mine, other] = [set[element] as FieldSet, others[element]] // its own element
    const left = other === undefined ? mine : isMember(other) ? undefined : subtractSubtrees(mine, other)
    if (left !== mine) same = false
    if (left !== undefined) kept.push([element, left])
  }
  return same ? set : part(member, kept)
}

/** Builds a set from paths. */
export function setOf (paths: Iterable<readonly string[]>): FieldSet {
  let set = EMPTY
  for (const path of paths) {
    let field = EMPTY
    for (const element of path.toReversed()) field = { [element]: field }
    set = union(set, field)
  }
  return set
}

export function has (set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set
  for (const element of path) at = at?.[element]
  return at !== undefined && path.length > 0 && isMember(at)
}

export function equals (a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  const elements = Object.keys(a)
  return elements.length === Object.keys(b).length && elements.every(element => {
    const other = b[element]
    return other !== undefined && equals(a[element] as FieldSet, other)
  })
}

/** The node at a path; undefined if neither it nor anything below it is in the set. */
export function at (set: FieldSet, path: readonly string[]): FieldSet | undefined {
  let node: FieldSet | undefined = set
  for (const element of path) if (node !== undefined) node = Object.hasOwn(node, element) ? node[element] : undefined
  return node
}

/** The number of fields. */
export function size (set: FieldSet): number {
  let count = 0
  for (const element in set) {
    if (element === SELF) continue
    const child = set[element] as FieldSet // its own element
    count += (isMember(child) ? 1 : 0) + size(child)
  }
  return count
}

/** The path of each field. */
export function * paths (set: FieldSet, at: readonly string[] = []): Generator<string[]> {
  for (const element of childElements(set)) {
    const path = [...at, element]
    const child = set[element] as FieldSet // its own element
    if (isMember(child)) yield path
    if (!isEmpty(child)) yield * paths(child, path)
  }
}

/** Elements parsed in a step: a few milliseconds. */
const ELEMENTS_PER_STEP = 500

interface Step { left: number }

/** What sets that are parsed together share. */
export const newStep = (): Step => ({ left: ELEMENTS_PER_STEP })

/**
 * Parses a set that a client wrote, into canonical form, in steps: it may have thousands of elements.
 * @throws TypeError that describes the error
 */
export function * parseFieldSet (value: unknown, step = newStep()): Steps<FieldSet> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError('a set of fields is an object')
  }
  const children = new Map<string, FieldSet>()
  let member = false
  for (const [text, below] of Object.entries(value)) {
    if (--step.left < 0) {
      step.left = ELEMENTS_PER_STEP
      yield
    }
    const element = parseElement(text)
    if (element === undefined) continue
    const child = yield * parseFieldSet(below, step)
    if (element === SELF) member = true
    else children.set(element, unionOfParts(children.get(element) ?? child, child))
  }
  return part(member, sortElements([...children.keys()]).map(element =>
    [element, children.get(element) ?? EMPTY])) ?? EMPTY
}
