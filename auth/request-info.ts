/** What is known of a request before anybody decides about it; plain facts, no HTTP library. */

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'proxy'

export interface RequestInfo {
  /** The path below the prefix the server is mounted at, decoded, without the query. */
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
  /** Of the object; of a list or watch that its field selector bounds to one name, that name. */
  readonly name: string
  /** The name is that of the selector; the path has none. */
  readonly selected?: true
  /** Below the `proxy` of a pod, service or node: the path it is asked for, decoded. '' or with its leading slash. */
  readonly rest?: string
}

/** The verbs that change nothing. */
export const READ_ONLY: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])
