/** Query and path parameters of the operations, as the interface's operation tables list them, in Swagger 2.0. */
import type { Plain } from '../declare.js'

const query = (name: string, type: 'string' | 'boolean' | 'integer', description: string): Plain =>
  ({ name, in: 'query', description, type, uniqueItems: true })

const PRETTY = query('pretty', 'string', "'true' indents the answer.")
const DRY_RUN = query('dryRun', 'string', "'All': every stage runs, nothing is stored.")
const FIELD_MANAGER = query('fieldManager', 'string', 'Name of whoever makes the change, for managedFields.')
const FIELD_VALIDATION = query('fieldValidation', 'string', 'What happens to unknown and repeated fields: Ignore, Warn or Strict.')
const FORCE = query('force', 'boolean', 'An apply takes over fields of other managers.')
const GRACE = query('gracePeriodSeconds', 'integer', 'Seconds the object may take to end; 0 is at once.')
const PROPAGATION = query('propagationPolicy', 'string', 'What happens to dependents: Orphan, Background or Foreground.')

const CONTINUE = query('continue', 'string', 'Token of the page to answer, from the answer before.')
const FIELD_SELECTOR = query('fieldSelector', 'string', 'Only objects whose fields match.')
const LABEL_SELECTOR = query('labelSelector', 'string', 'Only objects whose labels match.')
const LIMIT = query('limit', 'integer', 'At most so many items; the answer then carries a continue token.')
const RESOURCE_VERSION = query('resourceVersion', 'string', 'How recent the answer must be, or where a watch begins.')
const MATCH = query('resourceVersionMatch', 'string', 'What resourceVersion means for a list: Exact or NotOlderThan.')
const TIMEOUT = query('timeoutSeconds', 'integer', 'Ends the call after so many seconds.')
const BOOKMARKS = query('allowWatchBookmarks', 'boolean', 'The watch may tell its progress by BOOKMARK events.')
const WATCH = query('watch', 'boolean', 'A stream of changes in place of a list.')

const path = (name: string, description: string): Plain => ({ name, in: 'path', description, required: true, type: 'string', uniqueItems: true })

export const NAME = path('name', 'Name of the object.')
export const NAMESPACE = path('namespace', 'Namespace of the object.')

const WRITE = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, PRETTY]

/** By action; `list` and `watch` are one operation. */
export const QUERIES = {
  get: [PRETTY],
  list: [BOOKMARKS, CONTINUE, FIELD_SELECTOR, LABEL_SELECTOR, LIMIT, PRETTY, RESOURCE_VERSION, MATCH, TIMEOUT, WATCH],
  post: WRITE,
  put: WRITE,
  patch: [...WRITE, FORCE],
  delete: [DRY_RUN, GRACE, PRETTY, PROPAGATION],
  deletecollection: [CONTINUE, DRY_RUN, FIELD_SELECTOR, GRACE, LABEL_SELECTOR, LIMIT, PRETTY, PROPAGATION, RESOURCE_VERSION, MATCH, TIMEOUT]
} satisfies Record<string, readonly Plain[]>

export type Action = keyof typeof QUERIES

export function body (schema: Plain, required: boolean): Plain {
  return { name: 'body', in: 'body', ...(required ? { required } : {}), schema }
}
