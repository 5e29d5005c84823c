/** Maps the verbs of a resource and its subresources to handlers. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResourceStore } from '../registry/resource-store.js'
import { VerbTable } from '../registry/verb-table.js'
import { isServed, type Subresource } from '../schemas/resource.js'
import { notOffered, notSupported } from '../schemas/status.js'
import type { Verb } from '../answers/answer.js'
import { answering } from '../answers/send.js'
import { applyObject, applyView, isApply } from './verbs/apply.js'
import { deleteCollectionVerb, deleteVerb } from './verbs/delete.js'
import { getSourceVerb, getVerb } from './verbs/get.js'
import { listSourceVerb, listVerb } from './verbs/list.js'
import { operationVerb } from './verbs/operate.js'
import { patchViewVerb, readViewVerb, updateViewVerb } from './verbs/view.js'
import { watchVerb } from './verbs/watch.js'
import { createVerb, patchVerb, updateVerb } from './verbs/write.js'
import { observeWatches } from '../answers/watch/metrics.js'

/** Returns undefined if the handler sends the response itself. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply> | undefined
type Verbs = Partial<Record<string, Verb>>
type Handlers = Partial<Record<string, Handler>>

/** PATCH serves both patch and apply, distinguished by media type. */
const patchOrApply = (apply: Verb, patch: Verb): Verb => request => isApply(request) ? apply(request) : patch(request)

/** The handlers of each store, made when the first request comes: most resources get none. */
export function handlerTables (fastify: FastifyInstance): (store: ResourceStore) => VerbTable<Handler> {
  const {
    orchSettings: settings, orchShutdown: shutdown, orchResources: resources, orchConnections: connections,
    orchMetrics: metrics
  } = fastify
  const answered = answering({
    closing: () => shutdown.signal, bytesPerSecond: settings.connectionBytesPerSecond,
    observerOf: observeWatches(metrics)
  })

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
      const reading = source === undefined
        ? {}
        : { get: getSourceVerb(store, source), list: listSourceVerb(store, source) }
      const unwatched = source === undefined
        ? {}
        : { watch: (): never => { throw notSupported(store.resource, 'watch') } }
      return new Map([['', {
        ...pick(verbs, { ...reading, create: operationVerb(store, resources.operation(store.type)) }), ...unwatched
      }]])
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
      return Object.fromEntries(
        verbs.map(verb => [verb, () => { throw notOffered(`${store.representation.plural}/${name}`) }])
      )
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

  const tables = new WeakMap<ResourceStore, VerbTable<Handler>>()
  return store => {
    let table = tables.get(store)
    if (table === undefined) tables.set(store, table = new VerbTable(store, handlersOf(store)))
    return table
  }
}
