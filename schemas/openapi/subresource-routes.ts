/** Paths of subresources: parts of objects, kinds of other groups, and connections. */
import type { Gates } from '../gates.js'
import { Facts, type Message } from '../language/types.js'
import { TokenRequest } from '../api/authentication/tokenrequests.js'
import { Scale } from '../api/autoscaling/scale.js'
import { Binding } from '../api/core/bindings.js'
import {
  NodeProxyOptions, PodAttachOptions, PodExecOptions, PodLogOptions, PodPortForwardOptions, PodProxyOptions,
  ServiceProxyOptions
} from '../api/core/pod-options.js'
import { Eviction } from '../api/policy/v1.js'
import type { Subresource } from '../subresource.js'
import type { Representation } from '../resource.js'
import { capitalize, operationId, tagOf } from './naming.js'
import { METHODS, formsOf, ANYTHING, type Operation, type Method, type Part, type Route } from './operations.js'
import { PRETTY, REST, queryOf, byName, type Parameter } from './parameters.js'

/** Kinds of subresources that differ from their resource's kind. */
const TAKEN = [
  Binding, Eviction, Scale, TokenRequest, PodAttachOptions, PodExecOptions, PodPortForwardOptions, PodProxyOptions,
  NodeProxyOptions, ServiceProxyOptions
]
const BY_KIND: ReadonlyMap<string, Message> = new Map(
  TAKEN.map(message => [`${message[Facts].type?.apiVersion}/${message[Facts].type?.kind}`, message])
)

interface Owner { readonly object: string, readonly scope: readonly Parameter[], readonly gates: Gates }

/** @param owner the path of the object, and its parameters */
export function subresourceRoutes (
  resource: Representation, owner: Owner, operations: (part: Part) => Route['operations']
): Route[] {
  const { object, scope, gates } = owner
  return resource.subresources.flatMap(subresource => {
    const { name, verbs, view, kind = resource.kind, group = resource.group, version = resource.version } = subresource
    const path = `${object}/${name}`
    if (name === 'log') return [{ path, scope, operations: { get: log(resource, subresource, gates) } }]
    const message = view?.message ?? (kind === resource.kind
      ? resource.message
      : BY_KIND.get(`${group === '' ? version : `${group}/${version}`}/${kind}`))
    if (message === undefined) return [] // kind without a declaration
    if (kind.endsWith('Options')) return connections({ resource, subresource, message, path, scope, gates })
    const part = {
      verbs, namespaced: resource.namespaced, message, gvk: { group, version, kind },
      subject: `${resource.kind}: its ${name}`, suffix: capitalize(name)
    }
    return [{ path, scope, operations: operations(part) }]
  })
}

/** A log is plain text. */
function log (resource: Representation, { name }: Subresource, gates: Gates): Operation {
  const { group, version, kind, namespaced } = resource
  return {
    id: operationId(resource, 'read', { namespaced, kind, suffix: capitalize(name) }),
    description: `The log of a ${kind}.`,
    tag: tagOf(resource),
    query: [PRETTY, ...queryOf(PodLogOptions, gates)].sort(byName),
    consumes: ANYTHING,
    produces: ['text/plain', ...formsOf(resource)],
    answers: { 200: 'text' },
    action: 'get',
    gvk: { group, version, kind }
  }
}

interface Connection {
  readonly resource: Representation, readonly subresource: Subresource, readonly message: Message,
  readonly path: string, readonly scope: readonly Parameter[], readonly gates: Gates
}

/** A proxy accepts every method, and subpaths; other connections accept GET and POST. */
function connections (
  { resource, subresource: { name, verbs, kind = '' }, message, path, scope, gates }: Connection
): Route[] {
  const { group, version, namespaced } = resource
  const query = queryOf(message, gates)
  const proxies = verbs.includes('update')
  const methods: readonly Method[] = proxies ? METHODS : ['get', 'post']
  const connect = (suffix: string): Route['operations'] => Object.fromEntries(methods.map(method => [method, {
    id: operationId(resource, 'connect', {
      infix: capitalize(method), namespaced, kind: resource.kind, suffix: `${capitalize(name)}${suffix}`
    }),
    description: `${method.toUpperCase()} requests to the ${name} of a ${resource.kind}.`,
    tag: tagOf(resource),
    query,
    consumes: ANYTHING,
    produces: ANYTHING,
    answers: { 200: 'text' },
    action: 'connect',
    gvk: { group, version, kind }
  } satisfies Operation]))
  return [
    { path, scope, operations: connect('') },
    ...(proxies ? [{ path: `${path}/{path}`, scope: [...scope, REST], operations: connect('WithPath') }] : [])
  ]
}
