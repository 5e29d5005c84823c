/** The attributes of a request that authorization and other stages use, independent of Fastify. */

import type { Selectors } from './selectors.js'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'proxy'

export interface RequestInfo {
  /** The decoded path below the mount prefix, without the query. */
  readonly path: string
  /** True for paths below /api/VERSION and /apis/GROUP/VERSION that name a resource type. */
  readonly isResourceRequest: boolean
  /** For resource requests a `Verb`; else the HTTP method in lower case. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** The object's name; for lists and watches the name that the field selector requires, if any. */
  readonly name: string
  /** The name comes from the field selector, not from the path. */
  readonly selected?: true
  /** The selectors of a list, a watch or a delete of a collection, in releases that pass them to authorizers. */
  readonly selectors?: Selectors
  /** The path continues below the subresource, which only extension servers support. */
  readonly deeper?: true
  /** The decoded path below `proxy` of a pod, service or node: '' or with its leading slash. */
  readonly rest?: string
}

type ResourceFields = Pick<RequestInfo, 'verb' | 'group' | 'version' | 'resource'> & Partial<RequestInfo>

/** A request for a resource, as authorizers are asked about it; fields that are not given are ''. */
export const resourceRequest = (fields: ResourceFields): RequestInfo =>
  ({ path: '', isResourceRequest: true, subresource: '', namespace: '', name: '', ...fields })

/** A request for a path that names no resource. */
export const pathRequest = (path: string, verb: string): RequestInfo =>
  ({
    path, isResourceRequest: false, verb, group: '', version: '', resource: '', subresource: '', namespace: '', name: ''
  })

/** Read-only verbs. */
export const READ_ONLY: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])

/** What a request is about, for metrics: resource, namespace, cluster or ''. */
export function scopeLabel ({ name, namespace, verb, isResourceRequest }: RequestInfo): string {
  if (name !== '' || (isResourceRequest && verb === 'create')) return 'resource'
  if (namespace !== '') return 'namespace'
  return isResourceRequest ? 'cluster' : ''
}
