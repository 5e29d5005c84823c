/**
 * The URLs of all resource types, as the Resource URIs table has them: one way in, and the registry knows what is
 * behind it, so that types come and go while the server runs. What is asked for was parsed by request info, the same
 * parse authorization saw; the router finds nothing but this.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResourceVerb, Subresource } from '../schemas/index.js'
import { dnsLabel } from '../schemas/names.js'
import type { RequestInfo } from '../auth/request-info.js'
import { methodNotAllowed, noSuchPath, notFound, notOffered, notSupported } from '../schemas/status.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { deprecations } from './deprecation.js'
import { applyObject, applyView, isApply } from './verbs/apply.js'
import { deleteCollectionHandler, deleteHandler } from './verbs/delete.js'
import { getHandler, getSourceHandler } from './verbs/get.js'
import { listHandler, listSourceHandler } from './verbs/list.js'
import { operationHandler } from './verbs/operate.js'
import { patchViewHandler, readViewHandler, updateViewHandler } from './verbs/view.js'
import { watchHandler } from './verbs/watch.js'
import { observeWatches } from './watch-metrics.js'
import { createHandler, patchHandler, updateHandler } from './verbs/write.js'

/** Undefined when the answer has gone out or will without Fastify. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply> | undefined
type Handlers = Partial<Record<string, Handler>>

/** PATCH is two verbs: one by a difference, one by what shall be. */
const patching = (apply: Handler, patch: Handler): Handler => (request, reply) => isApply(request) ? apply(request, reply) : patch(request, reply)

const OF_COLLECTION = new Set(['list', 'watch', 'create', 'deletecollection'])

/** Collections and objects take different verbs, but for watch; what is in a namespace is changed there, and across all only listed. */
function fits ({ verb, namespace, name, selected, subresource }: RequestInfo, { type, shown }: ResourceStore): boolean {
  if (subresource !== '') return name !== ''
  if ((name === '' || selected === true) !== OF_COLLECTION.has(verb) && verb !== 'watch') return false
  return !type.namespaced || namespace !== '' || verb === 'list' || verb === 'watch' || (type.virtual && shown.verbs.includes('create'))
}

export default async function dispatch (fastify: FastifyInstance): Promise<void> {
  const { settings, shutdown, resources, connections, metrics } = fastify.orch
  const tell = deprecations(metrics.gauge)
  const watched = observeWatches(metrics)

  /** By verb, of the resource ('') and of each subresource. Made when a store is first asked for. */
  const handlersOf = (store: ResourceStore): Map<string, Handlers> => {
    const { verbs, subresources, kind } = store.shown
    const only = (names: readonly ResourceVerb[], all: Handlers): Handlers => Object.fromEntries(names.map(verb => [verb, all[verb]]))
    if (store.type.virtual) {
      const source = resources.source(store.type)
      const reading = source === undefined ? {} : { get: getSourceHandler(store, source), list: listSourceHandler(store, source) }
      const unwatched = source === undefined ? {} : { watch: () => { throw notSupported(store.resource, 'watch') } }
      return new Map([['', { ...only(verbs, { ...reading, create: operationHandler(store, resources.operation(store.type)) }), ...unwatched }]])
    }
    const patch = patching((request, reply) => applyObject(store, request, reply), patchHandler(store))
    const object: Handlers = { get: getHandler(store), update: updateHandler(store), patch }
    const all: Handlers = {
      ...object,
      list: listHandler(store),
      watch: watchHandler(store, settings, () => shutdown.signal, watched(store.shown)),
      create: createHandler(store),
      delete: deleteHandler(store),
      deletecollection: deleteCollectionHandler(store, settings.deleteCollectionWorkers)
    }
    const ofSubresource = ({ view, name, connects, kind: own = kind, verbs }: Subresource): Handlers => {
      if (view !== undefined) {
        const patch = patching((request, reply) => applyView(store, view, request, reply), patchViewHandler(store, view))
        return { get: readViewHandler(store, view), update: updateViewHandler(store, view), patch }
      }
      const operation = resources.operation(store.type, name)
      if (operation !== undefined) return { create: operationHandler(store, operation) }
      const connect = connects === true ? connections.get(`${store.shown.plural}/${name}`) : undefined
      if (connect !== undefined) return Object.fromEntries(verbs.map(verb => [verb, (request: FastifyRequest, reply: FastifyReply) => connect(store, request, reply)]))
      if (own === kind && connects !== true) return object
      return Object.fromEntries(verbs.map(verb => [verb, () => { throw notOffered(`${store.shown.plural}/${name}`) }]))
    }
    const handlers = new Map([['', only(verbs, all)]])
    for (const subresource of subresources) handlers.set(subresource.name, only(subresource.verbs, ofSubresource(subresource)))
    return handlers
  }

  const known = new WeakMap<ResourceStore, Map<string, Handlers>>()
  const handle: Handler = (request, reply) => {
    const { info } = request.orch
    const store = info.isResourceRequest ? resources.lookup(info) : undefined
    if (store === undefined) throw noSuchPath()
    const { namespaced } = store.type
    // A namespace is in itself, and nothing else of the cluster is in any: who may act in one may not act beyond it.
    if (!namespaced && info.namespace !== '' && info.namespace !== info.name) throw noSuchPath()
    if (namespaced && info.namespace !== '' && dnsLabel(info.namespace).length > 0) throw notFound({ group: '', resource: 'namespaces' }, info.namespace)
    let handlers = known.get(store)
    if (handlers === undefined) known.set(store, handlers = handlersOf(store))
    const verbs = namespaced && info.namespace === '' && info.name !== '' && info.selected !== true ? undefined : handlers.get(info.subresource)
    if (verbs === undefined) throw noSuchPath()
    const handler = verbs[info.verb === 'options' ? 'get' : info.verb]
    if (handler === undefined || !fits(info, store)) throw methodNotAllowed()
    if (store.shown.deprecation !== undefined) tell(request, reply, store.shown)
    request.orch.trace.handledAt = performance.now()
    return handler(request, reply)
  }
  /** What is proxied is asked with these too; nothing of ours is. */
  const handleProxied: Handler = (request, reply) => {
    const { info } = request.orch
    if (info.rest === undefined) throw fastify.orch.knowsPath(info) ? methodNotAllowed() : noSuchPath()
    return handle(request, reply)
  }
  for (const url of ['/api/*', '/apis/*']) {
    fastify.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url, exposeHeadRoute: false, handler: handle })
    fastify.route({ method: ['HEAD', 'OPTIONS'], url, exposeHeadRoute: false, handler: handleProxied })
  }
}
