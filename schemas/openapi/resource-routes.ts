/** Paths of a resource: collections, objects, and the deprecated `/watch/` paths. */
import type { Gates } from '../gates.js'
import type { Message } from '../language/types.js'
import { DeleteOptions } from '../meta/options.js'
import { Status, WatchEvent } from '../meta/answers.js'
import { Patch } from '../meta/scalars.js'
import type { ResourceVerb } from '../subresource.js'
import { deprecationIn, type Representation } from '../resource.js'
import { operationId, rootOf, tagOf } from './naming.js'
import {
  formsOf, streamedOf, ANYTHING, patchBodiesOf, type Content, type Operation, type Route, type Method, type Part
} from './operations.js'
import { NAMESPACE, NAME, queriesOf, type Action, type Queries } from './parameters.js'
import { subresourceRoutes } from './subresource-routes.js'

interface Act { readonly verb: ResourceVerb, readonly method: Method, readonly action: Action, readonly name: string }

const OF_COLLECTION: readonly Act[] = [
  { verb: 'list', method: 'get', action: 'list', name: 'list' },
  { verb: 'create', method: 'post', action: 'post', name: 'create' },
  { verb: 'deletecollection', method: 'delete', action: 'deletecollection', name: 'delete' }
]
const OF_OBJECT: readonly Act[] = [
  { verb: 'get', method: 'get', action: 'get', name: 'read' },
  { verb: 'update', method: 'put', action: 'put', name: 'replace' },
  { verb: 'patch', method: 'patch', action: 'patch', name: 'patch' },
  { verb: 'delete', method: 'delete', action: 'delete', name: 'delete' }
]
const OF_SUBRESOURCE: readonly Act[] = [
  ...OF_OBJECT, { verb: 'create', method: 'post', action: 'post', name: 'create' }
]

/** What a release has, for all routes of a document. */
interface Setting { readonly gates: Gates, readonly queries: Queries }

/** The routes of resources where a release is emulated. */
export function routesIn (gates: Gates): (resource: Representation) => Route[] {
  const setting = { gates, queries: queriesOf(gates) }
  return resource => routesOf(resource, setting)
}

function routesOf (resource: Representation, setting: Setting): Route[] {
  const { group, version, plural, namespaced, verbs } = resource
  const root = rootOf(group, version)
  const scope = namespaced ? [NAMESPACE] : []
  const inScope = namespaced ? `/namespaces/{namespace}/${plural}` : `/${plural}`
  const collection = `${root}${inScope}`
  const object = `${collection}/{name}`
  const only = (acts: readonly Act[]) => (part: Part): Route['operations'] =>
    Object.fromEntries(
      acts.filter(({ verb }) => part.verbs.includes(verb)).map(act =>
        [act.method, operation(resource, act, part, setting)])
    )
  const whole: Part = {
    verbs, namespaced, message: resource.message, gvk: resource, subject: resource.kind, suffix: ''
  }
  const everywhere: Route[] = namespaced && verbs.includes('list')
    ? [{
        path: `${root}/${plural}`, scope: [], operations: only(OF_COLLECTION)({
          ...whole, verbs: ['list'], namespaced: false, suffix: 'ForAllNamespaces'
        })
      }]
    : []
  return [
    { path: collection, scope, operations: only(OF_COLLECTION)(whole) },
    { path: object, scope: [NAME, ...scope], operations: only(OF_OBJECT)(whole) },
    ...everywhere,
    ...watches(resource, root, inScope, setting),
    ...subresourceRoutes(resource, { object, scope: [NAME, ...scope], gates: setting.gates }, only(OF_SUBRESOURCE))
  ].filter(({ operations }) => Object.keys(operations).length > 0)
}

function operation (
  resource: Representation, { action, name }: Act,
  { message, gvk: { group, version, kind }, namespaced, subject, suffix }: Part, { gates, queries }: Setting
): Operation {
  return {
    id: operationId(resource, name, {
      ...(action === 'deletecollection' ? { infix: 'Collection' } : {}), namespaced, kind: resource.kind, suffix
    }),
    tag: tagOf(resource),
    query: queries[action],
    consumes: action === 'patch' ? patchBodiesOf(resource) : ANYTHING,
    produces: action === 'list' ? streamedOf(resource) : formsOf(resource),
    action,
    gvk: { group, version, kind },
    deprecated: deprecationIn(gates, resource) !== undefined,
    ...DEEDS[action](resource, subject, message)
  }
}

/** The documented response of a delete. As upstream, that of a namespace is documented as Status. */
const ofDeletion = ({ deleteReturns, group, plural, message }: Representation): Content =>
  deleteReturns === 'Object' && !(group === '' && plural === 'namespaces') ? message : Status

type Deed = Pick<Operation, 'description' | 'answers' | 'body'>
const taking = (content: Message, required = true): Pick<Operation, 'body'> => ({ body: { content, required } })

const DEEDS: Readonly<Record<Exclude<Action, 'watch'>, (
  resource: Representation, subject: string, message: Message
) => Deed>> & { readonly watch: () => Deed } = {
  get: (_, subject, message) => ({ description: `One ${subject}.`, answers: { 200: message } }),
  list: (resource, subject) =>
    ({ description: `All ${subject} objects, or a stream of their changes.`, answers: { 200: { listOf: resource } } }),
  post: (_, subject, message) => ({
    description: `Creates a ${subject}.`, ...taking(message), answers: { 200: message, 201: message, 202: message }
  }),
  put: (_, subject, message) =>
    ({ description: `Replaces a ${subject}.`, ...taking(message), answers: { 200: message, 201: message } }),
  patch: (_, subject, message) =>
    ({ description: `Changes parts of a ${subject}.`, ...taking(Patch), answers: { 200: message, 201: message } }),
  delete: (resource, subject) => ({
    description: `Deletes a ${subject}.`, ...taking(DeleteOptions, false),
    answers: { 200: ofDeletion(resource), 202: ofDeletion(resource) }
  }),
  deletecollection: (_, subject) => ({
    description: `Deletes the ${subject} objects that match.`, ...taking(DeleteOptions, false), answers: { 200: Status }
  }),
  watch: () =>
    ({ description: 'A stream of changes. Deprecated: list with the parameter watch.', answers: { 200: WatchEvent } })
}

function watches (resource: Representation, root: string, inScope: string, { queries }: Setting): Route[] {
  const { group, version, kind, namespaced, plural, verbs } = resource
  if (!verbs.includes('watch')) return []
  const scope = namespaced ? [NAMESPACE] : []
  const watch = (action: string, of: boolean, suffix: string): Route['operations'] => ({
    get: {
      id: operationId(resource, 'watch', { namespaced: of, kind, suffix }),
      tag: tagOf(resource),
      query: queries.watch,
      consumes: ANYTHING,
      produces: streamedOf(resource),
      action,
      gvk: { group, version, kind },
      deprecated: true,
      ...DEEDS.watch()
    }
  })
  return [
    { path: `${root}/watch${inScope}`, scope, operations: watch('watchlist', namespaced, 'List') },
    { path: `${root}/watch${inScope}/{name}`, scope: [NAME, ...scope], operations: watch('watch', namespaced, '') },
    ...(namespaced
      ? [{ path: `${root}/watch/${plural}`, scope: [], operations: watch('watchlist', false, 'ListForAllNamespaces') }]
      : [])
  ]
}
