/**
 * A strategic merge patch as it is sent: which of its members are directives, and what it puts where there is nothing to
 * merge it with. Directives are never content, and neither is null, which says that something shall not be there.
 */
import { setMember } from '../../schemas/language/values.js'
import { badRequest, StatusError } from '../../schemas/status.js'

export type Plain = Record<string, unknown>
export const isObject = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The patch contradicts itself, whatever it is applied to. `at` is a path such as `spec.containers[0]`, '' for the whole. */
export const malformed = (at: string, why: string) => badRequest(`the strategic merge patch is malformed: ${at === '' ? '' : `${at}: `}${why}`)
/** The patch cannot be applied to what is there. */
export const patchMismatch = (at: string, why: string) => new StatusError('Invalid', `the strategic merge patch does not fit the object: ${at === '' ? '' : `${at}: `}${why}`)

export const below = (at: string, name: string): string => at === '' ? name : `${at}.${name}`

const PATCH = '$patch'
const RETAIN_KEYS = '$retainKeys'
const ORDER = '$setElementOrder'
const DELETE_FROM = '$deleteFromPrimitiveList'

type Directive = 'merge' | 'replace' | 'delete' | undefined
type Lists = Array<readonly [name: string, list: readonly unknown[]]>

/** The members of one object of a patch, told apart. */
export interface ObjectPatch {
  /** What happens to the object as a whole; undefined, like `merge`, goes member by member. */
  readonly directive: Directive
  /** The only members that stay. All that `changes` sets are among them. */
  readonly retainKeys: ReadonlySet<unknown> | undefined
  /** By the name of the list: in which order its items shall stand, and which shall go. */
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
    for (const [name, value] of changes) if (value !== null && !retainKeys.has(name)) throw malformed(at, `${RETAIN_KEYS} leaves out ${shown(name)}, which the patch sets`)
  }
  return { directive, retainKeys, orders, deletions, changes }
}

/** @throws StatusError 400 */
export function directiveOf (patch: Plain, at: string): Directive {
  if (!Object.hasOwn(patch, PATCH)) return undefined
  const { [PATCH]: directive } = patch
  if (directive !== 'replace' && directive !== 'delete' && directive !== 'merge') throw malformed(at, `${PATCH} must be replace, merge or delete`)
  return directive
}

export const shown = (name: string): string => JSON.stringify(name.slice(0, 100))

function listOf (directive: string, value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw malformed(at, `${shown(directive)} must be a list`)
  return value
}

function listNameOf (directive: string, prefix: string, at: string): string {
  const name = directive.slice(prefix.length + 1)
  if (directive[prefix.length] !== '/' || name === '') throw malformed(at, `${shown(directive)} must name a list, as in ${prefix}/finalizers`)
  return name
}

/** A copy of what a patch puts in a place, as an object holds it; undefined for what it deletes. @throws StatusError 400 */
export function taken (value: unknown, at: string): unknown {
  if (Array.isArray(value)) return takenItems(value, at)
  if (!isObject(value)) return value
  const patch = readPatch(value, at)
  return patch.directive === 'delete' ? undefined : takenMembers(patch, at)
}

export function takenMembers ({ changes }: ObjectPatch, at: string): Plain {
  const made: Plain = {}
  for (const [name, value] of changes) {
    const content = value === null ? undefined : taken(value, below(at, name))
    if (content !== undefined) put(made, name, content)
  }
  return made
}

/** Without items that stand there for a directive alone. */
export function takenItems (items: readonly unknown[], at: string): unknown[] {
  const made: unknown[] = []
  items.forEach((item, index) => {
    const path = `${at}[${index}]`
    const directive = isObject(item) ? directiveOf(item, path) : undefined
    if (directive !== 'replace' && directive !== 'delete') made.push(taken(item, path))
  })
  return made
}

/** Sets a member whatever its name. */
export function put (object: Plain, name: string, value: unknown): void {
  if (name === '__proto__') setMember(object, name, value)
  else object[name] = value
}
