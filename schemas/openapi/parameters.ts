/** Path parameters, and query parameters from the declared options of each verb. */
import type { Gates } from '../gates.js'
import { SCALARS } from '../language/json-schema.js'
import type { Message } from '../language/types.js'
import { planOf } from '../language/plan.js'
import { CreateOptions, DeleteOptions, ListOptions, PatchOptions, UpdateOptions } from '../meta/options.js'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: string
  readonly description: string
}

const path = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description })

export const NAME = path('name', 'Name of the object.')
export const NAMESPACE = path('namespace', 'Namespace of the object.')
export const REST = path('path', 'Path of the requested resource.')
export const PRETTY: Parameter = {
  name: 'pretty', in: 'query', type: 'string', description: "'true' indents the answer."
}

export const byName = (one: Parameter, other: Parameter): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : one.in < other.in ? -1 : 1

/**
 * Scalar options as query parameters, sorted by name. Structures are left out, and what came after the emulated
 * release; a list parameter may be repeated.
 */
export function queryOf (options: Message, gates: Pick<Gates, 'enabled'>): Parameter[] {
  return planOf(options).fields.flatMap(({ name, scalar, field: { description, since } }): Parameter[] =>
    scalar === undefined || (since !== undefined && !gates.enabled(since))
      ? []
      : [{ name, in: 'query', type: SCALARS[scalar].type, description }]).sort(byName)
}

const pretty = (...more: Parameter[]): Parameter[] => [PRETTY, ...more].sort(byName)
const OF_WATCHES: ReadonlySet<string> = new Set(['watch', 'allowWatchBookmarks'])

export type Queries = Readonly<Record<Action, readonly Parameter[]>>

/** Query parameters by action. */
export function queriesOf (gates: Pick<Gates, 'enabled'>): Queries {
  const list = queryOf(ListOptions, gates)
  const deletion = queryOf(DeleteOptions, gates)
  return {
    get: [PRETTY],
    list: pretty(...list),
    post: pretty(...queryOf(CreateOptions, gates)),
    put: pretty(...queryOf(UpdateOptions, gates)),
    patch: pretty(...queryOf(PatchOptions, gates)),
    delete: pretty(...deletion),
    deletecollection: pretty(...deletion, ...list.filter(({ name }) => !OF_WATCHES.has(name))),
    watch: pretty(...list)
  }
}

export type Action = 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'watch'
