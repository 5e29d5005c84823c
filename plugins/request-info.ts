/**
 * Parses verb, group, version, resource, subresource, namespace and name, once per request. Authorization and routing use the same result,
 * so they cannot disagree. Registered first; creates `request.orch`.
 */
import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { pathRequest, type RequestInfo } from '../auth/request-info.js'
import { translatePath, translateQuery, usesPublicNames } from '../schemas/compat/requests.js'
import { isBuiltInGroup } from '../schemas/resources.js'
import type { UserInfo } from '../schemas/meta/user-info.js'
import { pathSegment } from '../schemas/names.js'
import { isTrue } from '../schemas/query-boolean.js'
import { nameSelected } from '../schemas/selectors/fields.js'
import { badRequest, noSuchPath, StatusError } from '../schemas/status.js'
import { Trace } from '../registry/trace.js'
import { auditIdOf } from './audit-id.js'
import type { LimitPlace, Negotiated, ObjectRecorder, RequestContext } from './context.js'
import { hostFault } from './host-header.js'
import { closeWithConnection } from './queued-responses.js'
import { resetAfterResponse } from './unread-bodies.js'

const VERBS: Readonly<Record<string, string>> = { POST: 'create', GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }
/** Subresources of a namespace; any other second segment is a resource inside the namespace. */
const ofNamespace = (segment: string): boolean => segment === 'status' || segment === 'finalize'

/** True for segments that cannot be names: such a path is a non-resource path, not a collection. */
const unnamed = (segment: string): boolean => segment === '' || segment === '.' || segment === '..'

const nonResource = (method: string, path: string): RequestInfo => pathRequest(path, method.toLowerCase())

/**
 * kubectl from 1.27 lists this path before it creates an object of a type without PATCH, and fails on an error. Served and authorized as the
 * list of this server's group.
 */
const UPSTREAM_DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const DEFINITIONS_GROUP = 'apiextensions.orch.io'

/** The server's part of a proxied path; the rest belongs to the proxy target and may contain any segments. */
const PROXIED = /^\/api\/[^/]+\/(?:nodes|namespaces\/[^/]+\/(?:pods|services))\/[^/]+\/proxy(?=\/|$)/

/**
 * @param path raw, without query, below the mount prefix
 * @param publicNames its names, but not those of the query, are to be translated
 * @throws StatusError 400 for invalid percent-encoding or an encoded slash
 */
export function parseRequest (method: string, path: string, query: string, publicNames = false): RequestInfo {
  const proxied = path.includes('/proxy') ? PROXIED.exec(path)?.[0] : undefined
  if (proxied === undefined) return parsePath(method, path, query, publicNames)
  const rest = decodeSegment(path.slice(proxied.length))
  const info = parsePath(method, proxied, query, publicNames)
  return info.isResourceRequest ? { ...info, path: info.path + rest, rest } : info
}

function parsePath (method: string, path: string, query: string, publicNames: boolean): RequestInfo {
  const sent = path.includes('%') ? decodePath(path) : path
  const plain = publicNames ? translatePath(sent) : sent
  const parts = plain.split('/')
  if (parts.at(-1) === '') parts.pop()
  const core = parts[1] === 'api'
  let at = core ? 3 : 4
  if ((!core && parts[1] !== 'apis') || parts.length <= at) return nonResource(method, plain)
  for (let index = 1; index < parts.length; index++) if (unnamed(parts[index] as string)) return nonResource(method, plain)
  const group = core ? '' : parts[2] as string // `parts` has more than `at` elements
  const version = parts[at - 1] as string
  // The deprecated watch path, for collections and single objects.
  const watched = method === 'GET' && parts[at] === 'watch' && parts.length > at + 1
  if (watched) at++
  let namespace = ''
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1] as string
    if (parts.length > at + 2 && !(core && ofNamespace(parts[at + 2] as string))) at += 2
  }
  const deeper = parts.length > at + 3
  if (deeper && isBuiltInGroup(group)) return nonResource(method, plain)
  const { [at]: resource = '', [at + 1]: name = '', [at + 2]: subresource = '' } = parts
  const verb = watched ? 'watch' : verbOf(method, name, query)
  const info = { path: plain, isResourceRequest: true, verb, group: plain === UPSTREAM_DEFINITIONS && verb === 'list' ? DEFINITIONS_GROUP : group, version, resource, subresource, namespace, name }
  const selected = name === '' && (verb === 'list' || verb === 'watch') && query.includes('metadata.name') ? selectedName(query) : undefined
  if (deeper) return { ...info, deeper }
  return selected === undefined ? info : { ...info, name: selected, selected: true }
}

/** A list or watch restricted to one name is authorized like a get of that object. */
function selectedName (query: string): string | undefined {
  const name = nameSelected(new URLSearchParams(query).get('fieldSelector') ?? '') ?? ''
  return name === '' || pathSegment(name, false).length > 0 ? undefined : name
}

function decodePath (path: string): string {
  return path.split('/').map(segment => {
    const plain = decodeSegment(segment)
    if (plain.includes('/') || plain.includes('\0')) throw badRequest('a segment of the request path contains an encoded "/" or a NUL; names can have neither')
    return plain
  }).join('/')
}

function decodeSegment (segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badRequest('the request path is not valid percent-encoded UTF-8')
  }
}

function verbOf (method: string, name: string, query: string): string {
  const verb = VERBS[method] ?? method.toLowerCase()
  if (name !== '') return verb // `watch` applies only to collections
  if (verb === 'get') return watches(query) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/**
 * True if the route matches the path exactly. A host's router that ignores case or trailing slashes would otherwise serve another path than
 * the authorized one.
 */
export function routeMatches (route: string, path: string): boolean {
  const expected = route.split('/')
  const parts = path.split('/')
  if (parts.length > 2 && parts.at(-1) === '' && expected.at(-1) !== '') parts.pop()
  const open = expected.at(-1) === '*'
  if (open ? parts.length < expected.length : parts.length !== expected.length) return false
  return expected.every((segment, at) => segment === '*' || segment.startsWith(':') || segment === parts[at])
}

/** The first value counts. */
export function watches (query: string): boolean {
  return query.includes('watch') && isTrue(new URLSearchParams(query).get('watch'))
}

/** Shared by all requests without a query; must not be modified. */
const NO_QUERY = new URLSearchParams()

const NO_ANNOTATIONS = Object.freeze({})

/** Abort reason of ended requests; shared, because most requests with a signal end with it. */
const ENDED = new Error('the request has ended')

class Context implements RequestContext {
  readonly auditId: string
  readonly trace: Trace
  user: UserInfo | undefined = undefined
  impersonator: UserInfo | undefined = undefined
  dryRun = false
  accept: Negotiated | undefined = undefined
  readonly warnings: string[] = []
  annotations: Readonly<Record<string, string>> = NO_ANNOTATIONS
  failure: StatusError | undefined = undefined
  defect = false
  waited = 0
  waitedTogether = 0
  filterSince = 0
  audited = false
  recorder: ObjectRecorder | undefined = undefined
  onEnd: (() => void) | undefined = undefined
  readonly info: RequestInfo
  readonly publicNames: boolean
  #search: string
  #query: URLSearchParams | undefined
  #controller: AbortController | undefined
  #ended = false
  readonly #received: number
  readonly #raw: EventEmitter
  /** Emptied on close to release references to the request. */
  #closed: Array<() => void> | undefined
  #released = false
  #place: LimitPlace | undefined

  /** @param received milliseconds since 1970 */
  constructor (info: RequestInfo, search: string, publicNames: boolean, auditId: string, received: number, raw: EventEmitter) {
    this.info = info
    this.publicNames = publicNames
    this.#received = received
    this.auditId = auditId
    this.trace = new Trace(auditId)
    this.#search = search
    this.#raw = raw
  }

  occupy (place: LimitPlace): void {
    this.#place = place
    this.onClosed(() => { place.closed() })
  }

  handedOver (bytes: number): void { this.#place?.handedOver(bytes) }

  onClosed (then: () => void): void {
    if (this.#released) {
      then()
      return
    }
    if (this.#closed !== undefined) {
      this.#closed.push(then)
      return
    }
    const closed = this.#closed = [then]
    this.#raw.on('close', () => {
      this.#released = true
      for (const one of closed.splice(0)) one()
    })
  }

  get receivedAt (): Date { return new Date(this.#received) }

  get query (): URLSearchParams {
    this.#query ??= this.#search === '' ? NO_QUERY : new URLSearchParams(this.#search)
    return this.#query
  }

  dropQuery (): void {
    this.#search = ''
    this.#query = undefined
  }

  /** Created lazily: most requests never need it. */
  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#ended) this.#controller.abort(ENDED)
      else this.onClosed(() => { this.end() })
    }
    return this.#controller.signal
  }

  end (): void {
    this.#ended = true
    this.onEnd?.()
    this.#controller?.abort(ENDED)
  }
}

/** Rejects a wrong HTTP version in the request line of HTTP/1. */
const unsupportedVersion = (major: number): StatusError => major < 1
  ? new StatusError('BadRequest', 'the request names no version of HTTP, or 0.9', { headers: { connection: 'close' } })
  : new StatusError('BadRequest', 'this connection speaks HTTP/1.1; HTTP/2 is agreed on with TLS', { code: 505, headers: { connection: 'close' } })

/** HTTP/2 responses, and HTTP/1.1 responses that wait behind others, do not report that they are closed. */
function isClosed ({ raw }: FastifyRequest, response: ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>): boolean {
  return response.destroyed || (response.stream ?? raw.socket).destroyed
}

export interface RequestInfoOptions {
  /** Serve clients that use the public project's names. Default false. */
  readonly publicNames?: boolean | undefined
}

export default fp<RequestInfoOptions>(async (fastify, { publicNames: serves = false }) => {
  const mount = fastify.prefix
  const { clock } = fastify.orch
  fastify.decorateRequest('orch')

  fastify.addHook('onRequest', (request: FastifyRequest, reply, done) => {
    if (isClosed(request, reply.raw)) return // the client disconnected while a hook of the host waited; the request's place would never be released
    closeWithConnection(reply.raw)
    resetAfterResponse(reply.raw)
    const url = request.raw.url ?? '/'
    const at = url.indexOf('?')
    const path = (at < 0 ? url : url.slice(0, at)).slice(mount.length)
    const sent = at < 0 ? '' : url.slice(at + 1)
    const publicNames = serves && usesPublicNames(path, request.headers)
    const search = publicNames ? translateQuery(sent, path) : sent
    const auditId = auditIdOf(request.headers)
    const received = clock.wall()
    try {
      if (!('stream' in request.raw)) {
        if (request.raw.httpVersionMajor !== 1) throw unsupportedVersion(request.raw.httpVersionMajor)
        const fault = hostFault(request.raw)
        if (fault !== undefined) throw fault
      }
      if (!url.startsWith('/') || url.includes('#')) throw badRequest('the request target must be a path with an optional query')
      request.orch = new Context(parseRequest(request.method, path === '' ? '/' : path, search, publicNames), search, publicNames, auditId, received, reply.raw)
    } catch (error) {
      request.orch = new Context(nonResource(request.method, path), search, publicNames, auditId, received, reply.raw)
      return done(error as Error) // parseRequest throws only StatusErrors
    }
    reply.header('audit-id', request.orch.auditId)
    const { info } = request.orch
    const route = info.isResourceRequest || request.is404 ? undefined : request.routeOptions.url
    done(route === undefined || routeMatches(route.slice(mount.length) || '/', info.path) ? undefined : noSuchPath())
  })
}, { name: 'orch/request-info', fastify: '5.x' })
