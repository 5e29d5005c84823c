/**
 * What a request is about, from the matched route and its parameters. A route's pattern is read once, when the route
 * is registered. Paths that match no such route (names beyond the router's `maxParamLength`, other methods) are read
 * by the same rules.
 */
import { pathRequest, type RequestInfo } from '../../auth/request-info.js'
import { SelectorsOfQuery } from '../../auth/selectors.js'
import { isBuiltInGroup } from '../../schemas/resources.js'
import { pathSegment } from '../../schemas/names.js'
import { ofNamespace, placesIn, type Places } from '../../schemas/path-places.js'
import { PUBLIC_DEFINITIONS } from '../../schemas/public-names.js'
import { isTrue } from '../../schemas/query-boolean.js'
import { nameSelected } from '../../schemas/selectors/fields.js'
import { badRequest, type StatusError } from '../../schemas/status.js'

/** A request as its path is read. */
export interface Sent {
  readonly method: string
  /** Raw, without query, below the mount prefix. */
  readonly path: string
  readonly query: string
  /** The decoded path under own names, as the query is already. Default the same. */
  readonly ownPath?: ((path: string) => string) | undefined
}

const VERBS: Readonly<Record<string, string>> =
  { POST: 'create', GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

const DEFINITIONS_GROUP = 'apiextensions.orch.io'

/** True if a segment cannot be a name: such a path is a non-resource path, not a collection. */
function hasUnnamed (parts: readonly string[]): boolean {
  for (let at = 1; at < parts.length; at++) {
    const part = parts[at]
    if (part === '' || part === '.' || part === '..') return true
  }
  return false
}

/** The index of `proxy` in the path of a pod, service or node; 0 in others. What follows may contain any segments. */
function proxyIn (parts: readonly string[]): number {
  if (parts[1] !== 'api') return 0
  if (parts[3] === 'nodes') return parts[5] === 'proxy' ? 5 : 0
  return parts[3] === 'namespaces' && (parts[5] === 'pods' || parts[5] === 'services') && parts[7] === 'proxy' ? 7 : 0
}

const hidden = (): StatusError =>
  badRequest('a segment of the request path contains an encoded "/" or a NUL; names can have neither')
const hides = (segment: string): boolean => segment.includes('/') || segment.includes('\0')

const pathOf = (parts: readonly string[]): string => parts.slice(1).map(part => `/${part}`).join('')

/**
 * @param parts decoded segments of the path, up to `proxy`
 * @param rest what follows `proxy`
 * @param known places of the matched route
 */
function infoOf (parts: readonly string[], rest: string | undefined, sent: Sent, known?: Places): RequestInfo {
  const { method, query } = sent
  const read = pathOf(parts)
  const own = sent.ownPath?.(read) ?? read
  if (own !== read) parts = own.split('/')
  const path = rest === undefined ? own : own + rest
  const slash = parts[parts.length - 1] === '' // stands for an empty last parameter, which names nothing
  if (slash) parts = parts.slice(0, -1)
  const isKnown = !slash && known !== undefined && !ofNamespace(parts[known.resource])
  const places = isKnown ? known : placesIn(parts, method === 'GET')
  if (places === undefined || hasUnnamed(parts)) return pathRequest(path, method.toLowerCase())

  const at = (index: number): string => parts[index] ?? ''
  const group = at(places.group)
  const deeper = parts.length > places.subresource + 1
  if (deeper && isBuiltInGroup(group)) return pathRequest(path, method.toLowerCase())
  const name = at(places.name)
  const verb = places.watched ? 'watch' : verbOf(method, name, query)
  const isUpstreamList = group === PUBLIC_DEFINITIONS.group && verb === 'list' && path === PUBLIC_DEFINITIONS.path
  const info: RequestInfo = {
    path,
    isResourceRequest: true,
    verb,
    group: isUpstreamList ? DEFINITIONS_GROUP : group,
    version: at(places.version),
    resource: at(places.resource),
    subresource: at(places.subresource),
    namespace: at(places.namespace),
    name
  }
  if (deeper) return { ...info, deeper }
  if (rest !== undefined) return { ...info, rest }
  const selected = name === '' && (verb === 'list' || verb === 'watch') ? nameIn(query) : undefined
  return selected === undefined ? info : { ...info, name: selected, selected: true }
}

function verbOf (method: string, name: string, query: string): string {
  const verb = VERBS[method] ?? method.toLowerCase()
  if (name !== '') return verb // `watch` applies only to collections
  if (verb === 'get') return watches(query) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/** The first value counts. */
export function watches (query: string): boolean {
  return query.includes('watch') && isTrue(new URLSearchParams(query).get('watch'))
}

/** A list or watch restricted to one name is authorized like a get of that object. */
function nameIn (query: string): string | undefined {
  if (!query.includes('metadata.name')) return undefined
  const name = nameSelected(new URLSearchParams(query).get('fieldSelector') ?? '') ?? ''
  return name === '' || pathSegment(name, false).length > 0 ? undefined : name
}

const COLLECTIONS: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])
/** Watches by path are of one object, or of all. */
const WATCH_PATH = /^\/api(?:s\/[^/]+)?\/[^/]+\/watch\//

/** With the selectors of the query, for authorizers. */
export function withSelectors (info: RequestInfo, search: string): RequestInfo {
  if (!search.includes('Selector=') || !info.isResourceRequest || !COLLECTIONS.has(info.verb)) return info
  if (info.verb === 'watch' && WATCH_PATH.test(info.path)) return info
  return { ...info, selectors: new SelectorsOfQuery(search) }
}

/** An encoded slash or NUL. */
const HIDDEN = /%(?:2f|00)/i

/** What requests of a route are about. */
export class RoutePattern {
  readonly #segments: readonly string[]
  /** Names of parameters by segment; undefined where the segment is fixed. */
  readonly #params: ReadonlyArray<string | undefined>
  readonly #places: Places | undefined
  readonly #open: boolean
  /** `/api/*` and `/apis/*` take paths that match no other pattern. */
  readonly #takesAny: boolean

  /** @param pattern below the mount prefix */
  constructor (pattern: string) {
    this.#open = pattern.endsWith('/*')
    this.#segments = (this.#open ? pattern.slice(0, -2) : pattern).split('/')
    this.#params = this.#segments.map(segment => segment.startsWith(':') ? segment.slice(1) : undefined)
    this.#places = placesIn(this.#segments) // only GET has routes with `watch/`
    this.#takesAny = pattern === '/api/*' || pattern === '/apis/*'
  }

  /** @throws StatusError 400 for an encoded slash or a NUL in what is no proxied path */
  infoOf (params: Readonly<Partial<Record<string, string>>>, sent: Sent): RequestInfo {
    if (this.#takesAny) return infoOfPath(sent)
    const parts = [...this.#segments]
    for (let at = 2; at < parts.length; at++) {
      const param = this.#params[at]
      if (param !== undefined) parts[at] = params[param] ?? ''
    }
    const { path } = sent
    const below = this.#open ? params['*'] : undefined
    const isProxied = proxyIn(parts) > 0
    const isHidden = (): boolean => parts.some(hides) || (below !== undefined && !isProxied && HIDDEN.test(path))
    if (path.includes('%') && isHidden()) throw hidden()
    if (!isProxied) return infoOf(below === undefined ? parts : [...parts, below], undefined, sent, this.#places)
    const rest = below === undefined ? '' : `/${below}`
    // A host's router may drop the slash.
    return infoOf(parts, path.endsWith('/') && !rest.endsWith('/') ? `${rest}/` : rest, sent, this.#places)
  }
}

/**
 * What a request is about whose route does not tell. @throws StatusError 400 as for other paths, or for invalid
 * percent-encoding
 */
export function infoOfPath (sent: Sent): RequestInfo {
  const parts = sent.path.split('/').map(decode)
  const proxy = proxyIn(parts)
  const own = proxy === 0 ? parts : parts.slice(0, proxy + 1)
  if (own.some(hides)) throw hidden()
  return infoOf(own, proxy === 0 ? undefined : parts.slice(proxy + 1).map(part => `/${part}`).join(''), sent)
}

function decode (segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badRequest('the request path is not valid percent-encoded UTF-8')
  }
}
