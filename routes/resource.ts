/**
 * The URLs of one resource type: from its declaration and its strategy to routes. A route file states the
 * two values; this one knows the shape of the Resource URIs table, and the verbs the rest.
 *
 * Names are taken from request info, the same parse authorization saw; the router only finds the resource.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ResourceDefinition, ResourceVerb } from '../schemas/index.js'
import { dnsLabel } from '../schemas/names.js'
import { methodNotAllowed, noSuchPath, notFound } from '../schemas/status.js'
import type { ResourceStore } from '../storage/resource-store.js'
import type { Strategy } from '../storage/strategy.js'
import { deleteCollectionHandler, deleteHandler } from './verbs/delete.js'
import { getHandler } from './verbs/get.js'
import { listHandler } from './verbs/list.js'
import { watchHandler } from './verbs/watch.js'
import { createHandler, patchHandler, updateHandler } from './verbs/write.js'

/** Undefined when the answer has gone out or will without Fastify. */
type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply> | undefined
type Handlers = Partial<Record<string, Handler>>

/** The handlers of a subresource that is its object seen from another side, such as status. */
const ofObject = (store: ResourceStore): Handlers => ({ get: getHandler(store), update: updateHandler(store), patch: patchHandler(store) })

function handlersOf (fastify: FastifyInstance, store: ResourceStore): Map<string, Handlers> {
  const { settings, shutdown } = fastify.orch
  const { definition } = store
  const all: Record<ResourceVerb, Handler> = {
    get: getHandler(store),
    list: listHandler(store),
    watch: watchHandler(store, settings, () => shutdown.signal),
    create: createHandler(store),
    update: updateHandler(store),
    patch: patchHandler(store),
    delete: deleteHandler(store),
    deletecollection: deleteCollectionHandler(store, settings.deleteCollectionWorkers)
  }
  const handlers = new Map<string, Handlers>([['', Object.fromEntries(definition.verbs.map(verb => [verb, all[verb]]))]])
  for (const { name, verbs, kind } of definition.subresources) {
    if (kind !== undefined && kind !== definition.kind) continue // another kind's subresource is a route of its own
    const known = ofObject(store)
    handlers.set(name, Object.fromEntries(verbs.map(verb => [verb, known[verb]])))
  }
  return handlers
}

export function resourceRoutes (definition: ResourceDefinition, strategy: Strategy): FastifyPluginAsync {
  return async fastify => {
    const store = fastify.orch.resources.add(definition, strategy)
    const { group, version, plural, namespaced } = definition
    if (fastify.orch.settings.disabledGroupVersions.has(definition.apiVersion)) return
    fastify.orch.resources.serve(store)
    const handlers = handlersOf(fastify, store)
    const handle: Handler = (request, reply) => {
      const { info } = request.orch
      // What was authorized is what is served, whatever the router made of the path.
      if (info.resource !== plural || info.group !== group || info.version !== version) throw noSuchPath()
      // A namespace is in itself, and nothing else of the cluster is in any: who may act in one may not act beyond it.
      if (!namespaced && info.namespace !== '' && info.namespace !== info.name) throw noSuchPath()
      if (namespaced && info.namespace !== '' && dnsLabel(info.namespace) !== undefined) throw notFound({ group: '', resource: 'namespaces' }, info.namespace)
      const verbs = namespaced && info.namespace === '' && info.name !== '' ? undefined : handlers.get(info.subresource)
      if (verbs === undefined) throw noSuchPath()
      const handler = verbs[info.verb]
      if (handler === undefined || !fits(info, namespaced)) throw methodNotAllowed()
      return handler(request, reply)
    }
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const paths = [`${base}/${plural}`, `${base}/${plural}/*`]
    if (namespaced) paths.push(`${base}/namespaces/:namespace/${plural}`, `${base}/namespaces/:namespace/${plural}/*`)
    for (const url of paths) {
      fastify.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url, exposeHeadRoute: false, handler: handle })
    }
  }
}

const OF_COLLECTION = new Set(['list', 'watch', 'create', 'deletecollection'])

/** Collections and objects take different verbs; what is in a namespace is changed there, and across all only listed. */
function fits ({ verb, namespace, name }: { verb: string, namespace: string, name: string }, namespaced: boolean): boolean {
  if ((name === '') !== OF_COLLECTION.has(verb)) return false
  return !namespaced || namespace !== '' || verb === 'list' || verb === 'watch'
}
