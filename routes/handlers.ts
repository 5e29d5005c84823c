/** Maps the verbs of a resource and its subresources to handlers. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestInfo } from '../auth/request-info.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { Subresource } from '../schemas/index.js'
import { isServed } from '../schemas/resource.js'
import { dnsLabel } from '../schemas/names.js'
import { methodNotAllowed, noSuchPath, notFound, notOffered, notSupported } from '../schemas/status.js'
import type { Verb } from '../answers/answer.js'
import { deprecations } from './deprecation.js'
import { answering } from './respond.js'
import { unknownPath } from './unknown-path.js'
import { applyObject, applyView, isApply } from './verbs/apply.js'
import { deleteCollectionVerb, deleteVerb } from './verbs/delete.js'
import { getSourceVerb, getVerb } from './verbs/get.js'
import { listSourceVerb, listVerb } from './verbs/list.js'
import { operationVerb } from './verbs/operate.js'
import { patchViewVerb, readViewVerb, updateViewVerb } from './verbs/view.js'
import { watchVerb } from './verbs/watch.js'
import { createVerb, patchVerb, updateVerb } from './verbs/write.js'
import { observeWatches } from './watch-metrics.js'

/** Returns undefined if the handler sends the response itself. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply> | undefined
type Verbs = Partial<Record<string, Verb>>
type Handlers = Partial<Record<string, Handler>>

/** PATCH serves both patch and apply, distinguished by media type. */
const patchOrApply = (apply: Verb, patch: Verb): Verb => request => isApply(request) ? apply(request) : patch(request)

const COLLECTION_VERBS = new Set(['list', 'watch', 'create', 'deletecollection'])

/** Collections and objects take different verbs, except watch. Across namespaces, namespaced resources can only be listed and watched. */
function isVerbAllowed ({ verb, namespace, name, selected, subresource }: RequestInfo, { type, representation }: ResourceStore): boolean {
  if (subresource !== '') return name !== ''
  if ((name === '' || selected === true) !== COLLECTION_VERBS.has(verb) && verb !== 'watch') return false
  return !type.namespaced || namespace !== '' || verb === 'list' || verb === 'watch' || (type.virtual && representation.verbs.includes('create'))
}

/** Proxies to the extension server that an APIService names for the path's group version. */
export function extensionServerHandler ({ orch: { aggregation } }: FastifyInstance): Handler {
  return (request, reply) => {
    const { info } = request.orch
    const service = aggregation.find(info.path)
    if (service === undefined) throw unknownPath(info)
    return aggregation.proxy(service, request, reply)
  }
}

/** Returns the handler of a resource's requests, one per store; verb and names come from the request info. */
export function resourceHandlers (fastify: FastifyInstance): (store: ResourceStore) => Handler {
  const { settings, shutdown, resources, connections, metrics } = fastify.orch
  const proxyToExtensionServer = extensionServerHandler(fastify)
  const noteDeprecation = deprecations(metrics.gauge)
  const answered = answering({ closing: () => shutdown.signal, bytesPerSecond: settings.connectionBytesPerSecond, observerOf: observeWatches(metrics) })

  /** By subresource, '' for the object itself, then by verb. */
  const handlersOf = (store: ResourceStore): Map<string, Handlers> => {
    const { verbs, subresources, kind } = store.representation
    const pick = (names: readonly string[], all: Verbs): Handlers =>
      Object.fromEntries(names.flatMap(name => {
        const verb = all[name]
        return verb === undefined ? [] : [[name, answered(verb)]]
      }))
    if (store.type.virtual) {
      const source = resources.source(store.type)
      const reading = source === undefined ? {} : { get: getSourceVerb(store, source), list: listSourceVerb(store, source) }
      const unwatched = source === undefined ? {} : { watch: (): never => { throw notSupported(store.resource, 'watch') } }
      return new Map([['', { ...pick(verbs, { ...reading, create: operationVerb(store, resources.operation(store.type)) }), ...unwatched }]])
    }
    const patch = patchOrApply(request => applyObject(store, request), patchVerb(store))
    const object: Verbs = { get: getVerb(store), update: updateVerb(store), patch }
    const all: Verbs = {
      ...object,
      list: listVerb(store),
      watch: watchVerb(store, settings),
      create: createVerb(store),
      delete: deleteVerb(store),
      deletecollection: deleteCollectionVerb(store, settings.deleteCollectionWorkers)
    }
    const subresourceVerbs = ({ view, name, connects, kind: own = kind, verbs }: Subresource): Verbs => {
      if (view !== undefined) {
        const patch = patchOrApply(request => applyView(store, view, request), patchViewVerb(store, view))
        return { get: readViewVerb(store, view), update: updateViewVerb(store, view), patch }
      }
      const operation = resources.operation(store.type, name)
      if (operation !== undefined) return { create: operationVerb(store, operation) }
      if (own === kind && connects !== true) return object
      return Object.fromEntries(verbs.map(verb => [verb, () => { throw notOffered(`${store.representation.plural}/${name}`) }]))
    }
    const subresourceHandlers = (subresource: Subresource): Handlers => {
      const { name, connects, verbs } = subresource
      const connect = connects === true ? connections.get(`${store.representation.plural}/${name}`) : undefined
      if (connect === undefined) return pick(verbs, subresourceVerbs(subresource))
      const handler: Handler = (request, reply) => connect(store, request, reply)
      return Object.fromEntries(verbs.map(verb => [verb, handler]))
    }
    const served = subresources.filter(one => isServed(one, store.gates))
    return new Map([['', pick(verbs, all)], ...served.map(one => [one.name, subresourceHandlers(one)] as const)])
  }

  const handlerFor = (store: ResourceStore): Handler => {
    const { namespaced } = store.type
    const { deprecation, group, version, plural } = store.representation
    let handlers: Map<string, Handlers> | undefined // created on demand: most resources get no requests
    return (request, reply) => {
      const { info } = request.orch
      if (store.delegated) return proxyToExtensionServer(request, reply)
      // The host's router may read a path differently from authorization, for example case-insensitively.
      if (!info.isResourceRequest || info.resource !== plural || info.version !== version || info.group !== group) throw noSuchPath()
      // A namespace object is in its own namespace; no other cluster-scoped object is in any. Otherwise permission in one namespace would reach beyond it.
      if (!namespaced && info.namespace !== '' && info.namespace !== info.name) throw noSuchPath()
      if (namespaced && info.namespace !== '' && dnsLabel(info.namespace).length > 0) throw notFound({ group: '', resource: 'namespaces' }, info.namespace)
      handlers ??= handlersOf(store)
      const verbs = namespaced && info.namespace === '' && info.name !== '' && info.selected !== true ? undefined : handlers.get(info.subresource)
      if (verbs === undefined) throw noSuchPath()
      const handler = verbs[info.verb === 'options' ? 'get' : info.verb]
      if (handler === undefined || !isVerbAllowed(info, store)) throw methodNotAllowed()
      if (deprecation !== undefined) noteDeprecation(request, store.representation)
      request.orch.trace.handledAt = performance.now()
      return handler(request, reply)
    }
  }

  const known = new WeakMap<ResourceStore, Handler>()
  return store => {
    let handler = known.get(store)
    if (handler === undefined) known.set(store, handler = handlerFor(store))
    return handler
  }
}
