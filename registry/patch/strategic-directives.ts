/**
 * Reads the directives of a strategic merge patch, and the content it sets where no value exists. Directives and null,
 * which deletes, are never content.
 */
import { setMember, isObject } from '../../schemas/language/values.js'
import { badRequest, StatusError } from '../../schemas/status.js'
import { quote } from '../../schemas/quote.js'

export type Plain = Record<string, unknown>

/**
 * A Status for a patch that is invalid for any object. `at` is a path such as `spec.containers[0]`, '' for the whole.
 */
export const malformed = (at: string, why: string) =>
  badRequest(`the strategic merge patch is malformed: ${at === '' ? '' : `${at}: `}${why}`)
/** A Status for a patch that does not fit the object. */
export const patchMismatch = (at: string, why: string) =>
  new StatusError('Invalid', `the strategic merge patch does not fit the object: ${at === '' ? '' : `${at}: `}${why}`)

export const memberPath = (at: string, name: string): string => at === '' ? name : `${at}.${name}`

const PATCH = '$patch'
const RETAIN_KEYS = '$retainKeys'
const ORDER = '$setElementOrder'
const DELETE_FROM = '$deleteFromPrimitiveList'

type Directive = 'merge' | 'replace' | 'delete' | undefined
type Lists = Array<readonly [name: string, list: readonly unknown[]]>

/** The members of an object patch, by purpose. */
export interface ObjectPatch {
  /** Applies to the whole object; undefined and `merge` mean member by member. */
  readonly directive: Directive
  /** All other members are removed. Contains every member that `changes` sets. */
  readonly retainKeys: ReadonlySet<unknown> | undefined
  /** Per list name: the order of its items, and the items to delete. */
  readonly orders: Readonly<Lists>
  readonly deletions: Readonly<Lists>
  readonly changes: ReadonlyArray<readonly [name: string, value: unknown]>
}

/** @throws StatusError 400 */
export function readPatch (patch: Plain, at: string): ObjectPatch {
  const directive = directiveOf(patch, at)
  const changes: Array<[string, unknown]> = []
  const orders: Lists = []
  const deletions: Lists = []
  let retainKeys: ReadonlySet<unknown> | undefined
  for (const [name, value] of Object.entries(patch)) {
    if (!name.startsWith('$')) changes.push([name, value])
    else if (name === RETAIN_KEYS) retainKeys = new Set(listOf(name, value, at))
    else if (name.startsWith(ORDER)) orders.push([listNameOf(name, ORDER, at), listOf(name, value, at)])
    else if (name.startsWith(DELETE_FROM)) deletions.push([listNameOf(name, DELETE_FROM, at), listOf(name, value, at)])
    else if (name !== PATCH) changes.push([name, value])
  }
  if (retainKeys !== undefined) {
    for (const [name, value] of changes) {
      if (value !== null &&
      !retainKeys.has(name)) throw malformed(at, `${RETAIN_KEYS} leaves out ${quote(name)}, which the patch sets`)
    }
  }
  return { directive, retainKeys, orders, deletions, changes }
}

/** @throws StatusError 400 */
export function directiveOf (patch: Plain, at: string): Directive {
  if (!Object.hasOwn(patch, PATCH)) return undefined
  const { [PATCH]: directive } = patch
  if (directive !== 'replace' && directive !== 'delete' && directive !== 'merge') {
    throw malformed(at, `${PATCH} must be replace, merge or delete`)
  }
  return directive
}

function listOf (directive: string, value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw malformed(at, `${quote(directive)} must be a list`)
  return value
}

function listNameOf (directive: string, prefix: string, at: string): string {
  const name = directive.slice(prefix.length + 1)
  if (directive[prefix.length] !== '/' || name === '') {
    throw malformed(at, `${quote(directive)} must name a list, as in ${prefix}/finalizers`)
  }
  return name
}

/** Copies the content of a patch value; undefined if the patch deletes it. @throws StatusError 400 */
export function contentOf (value: unknown, at: string): unknown {
  if (Array.isArray(value)) return contentOfItems(value, at)
  if (!isObject(value)) return value
  const patch = readPatch(value, at)
  return patch.directive === 'delete' ? undefined : contentOfMembers(patch, at)
}

export function contentOfMembers ({ changes }: ObjectPatch, at: string): Plain {
  const contents: Plain = {}
  for (const [name, value] of changes) {
    const content = value === null ? undefined : contentOf(value, memberPath(at, name))
    if (content !== undefined) put(contents, name, content)
  }
  return contents
}

/** Leaves out items that only carry a directive. */
export function contentOfItems (items: readonly unknown[], at: string): unknown[] {
  const contents: unknown[] = []
  items.forEach((item, index) => {
    const path = `${at}[${index}]`
    const directive = isObject(item) ? directiveOf(item, path) : undefined
    if (directive !== 'replace' && directive !== 'delete') contents.push(contentOf(item, path))
  })
  return contents
}

/** Sets a member, `__proto__` included. */
export function put (object: Plain, name: string, value: unknown): void {
  if (name === '__proto__') setMember(object, name, value)
  else object[name] = value
}
