/** Path parameters, and query parameters from the declared options of each verb. */
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
 * Scalar options as query parameters, sorted by name. Structures are left out, and what came after 1.24; a list
 * parameter may be repeated.
 */
export function queryOf (options: Message): Parameter[] {
  return planOf(options).fields.flatMap(({ name, scalar, field: { description, since } }): Parameter[] =>
    scalar === undefined || since !== undefined
      ? []
      : [{ name, in: 'query', type: SCALARS[scalar].type, description }]).sort(byName)
}

const pretty = (...more: Parameter[]): Parameter[] => [PRETTY, ...more].sort(byName)
const LIST = queryOf(ListOptions)
const OF_WATCHES: ReadonlySet<string> = new Set(['watch', 'allowWatchBookmarks'])

/** Query parameters by action. */
export const QUERIES = {
  get: [PRETTY],
  list: pretty(...LIST),
  post: pretty(...queryOf(CreateOptions)),
  put: pretty(...queryOf(UpdateOptions)),
  patch: pretty(...queryOf(PatchOptions)),
  delete: pretty(...queryOf(DeleteOptions)),
  deletecollection: pretty(...queryOf(DeleteOptions), ...LIST.filter(({ name }) => !OF_WATCHES.has(name))),
  watch: pretty(...LIST)
} satisfies Record<string, readonly Parameter[]>

export type Action = keyof typeof QUERIES
