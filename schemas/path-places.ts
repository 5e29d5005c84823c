/** Where the path of a request, or the pattern of a route, names what it is about. */

/** Indexes of the segments that name each part; 0, the empty segment before the leading slash, where none does. */
export interface Places {
  readonly group: number
  readonly version: number
  /** That of `name` in the path of a namespace itself. */
  readonly namespace: number
  readonly resource: number
  readonly name: number
  readonly subresource: number
  readonly watched: boolean
}

/** Subresources of a namespace; any other second segment is a resource inside the namespace. */
export const ofNamespace = (segment: string | undefined): boolean => segment === 'status' || segment === 'finalize'

/**
 * @param parts segments, without the empty one behind a trailing slash
 * @param mayWatch whether the method can have the deprecated path of watches, for collections and single objects
 * @returns undefined if the path names no resource
 */
export function placesIn (parts: readonly string[], mayWatch = true): Places | undefined {
  const core = parts[1] === 'api'
  const version = core ? 2 : 3
  let at = version + 1
  if ((!core && parts[1] !== 'apis') || parts.length <= at) return undefined
  const watched = mayWatch && parts[at] === 'watch' && parts.length > at + 1
  if (watched) at++
  let namespace = 0
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = at + 1
    if (parts.length > at + 2 && !(core && ofNamespace(parts[at + 2]))) at += 2
  }
  return { group: core ? 0 : 2, version, namespace, resource: at, name: at + 1, subresource: at + 2, watched }
}
