/** Maps the verbs of a resource and its subresources to handlers. */
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
import type { RoutedServer } from './needs.js'

/** Sends the answer. */
export type Handler = ReturnType<ReturnType<typeof answering>>
type Verbs = Partial<Record<string, Verb>>
type Handlers = Partial<Record<string, Handler>>

/** PATCH serves both patch and apply, distinguished by media type. */
const patchOrApply = (apply: Verb, patch: Verb): Verb => request => isApply(request) ? apply(request) : patch(request)

/** By subresource, '' for the object itself, then by verb. */
type Table = Map<string, Handlers>

/** Makes the handlers of a server's types. */
class HandlerTables {
  readonly #fastify: Pick<RoutedServer, 'orchSettings' | 'orchResources' | 'orchConnections'>
  readonly #answered: ReturnType<typeof answering>

  constructor (fastify: RoutedServer) {
    const { orchShutdown: shutdown, orchMetrics: metrics, orchSettings: settings } = fastify
    this.#fastify = fastify
    this.#answered = answering({
      closing: () => shutdown.signal, grace: () => shutdown.watchGrace,
      bytesPerSecond: settings.connectionBytesPerSecond, observerOf: observeWatches(metrics)
    })
  }

  of (store: ResourceStore): Table {
    const { verbs, subresources } = store.representation
    if (store.type.virtual) return new Map([['', this.#virtual(store)]])
    const object = this.#answering(verbs, this.#stored(store))
    const below = subresources.filter(subresource => isServed(subresource, store.gates))
    return new Map([
      ['', object], ...below.map(subresource => [subresource.name, this.#subresource(store, subresource)] as const)
    ])
  }

  #answering (names: readonly string[], verbs: Verbs): Handlers {
    return Object.fromEntries(names.flatMap(name => {
      const verb = verbs[name]
      return verb === undefined ? [] : [[name, this.#answered(verb)]]
    }))
  }

  /** Of objects that are not stored: made when they are read, or an answer to what is created. */
  #virtual (store: ResourceStore): Handlers {
    const { orchResources: resources } = this.#fastify
    const { verbs } = store.representation
    const [source, operation] = [resources.source(store.type), resources.operation(store.type)]
    if (operation !== undefined) return this.#answering(verbs, { create: operationVerb(store, operation) })
    if (source === undefined) return {}
    return {
      ...this.#answering(verbs, { get: getSourceVerb(store, source), list: listSourceVerb(store, source) }),
      watch: () => { throw notSupported(store.resource, 'watch') }
    }
  }

  #object (store: ResourceStore): Verbs {
    const patch = patchOrApply(request => applyObject(store, request), patchVerb(store))
    return { get: getVerb(store), update: updateVerb(store), patch }
  }

  #stored (store: ResourceStore): Verbs {
    const { orchSettings: settings } = this.#fastify
    return {
      ...this.#object(store),
      list: listVerb(store),
      watch: watchVerb(store, settings),
      create: createVerb(store),
      delete: deleteVerb(store),
      deletecollection: deleteCollectionVerb(store, settings.deleteCollectionWorkers)
    }
  }

  #subresource (store: ResourceStore, subresource: Subresource): Handlers {
    const { name, connects, verbs } = subresource
    const { plural } = store.representation
    const connect = connects === true ? this.#fastify.orchConnections.get(`${plural}/${name}`) : undefined
    if (connect === undefined) return this.#answering(verbs, this.#belowObject(store, subresource))
    return Object.fromEntries(verbs.map(verb => [verb, this.#answered(request => connect(store, request))]))
  }

  /** A view of the object, an operation on it, or a part of it, such as its status. */
  #belowObject (store: ResourceStore, { view, name, connects, kind, verbs }: Subresource): Verbs {
    if (view !== undefined) {
      const patch = patchOrApply(request => applyView(store, view, request), patchViewVerb(store, view))
      return { get: readViewVerb(store, view), update: updateViewVerb(store, view), patch }
    }
    const operation = this.#fastify.orchResources.operation(store.type, name)
    if (operation !== undefined) return { create: operationVerb(store, operation) }
    const { kind: own, plural } = store.representation
    if ((kind ?? own) === own && connects !== true) return this.#object(store)
    return Object.fromEntries(verbs.map(verb => [verb, () => { throw notOffered(`${plural}/${name}`) }]))
  }
}

/** The handlers of each store, made when the first request comes: most resources get none. */
export function handlerTables (fastify: RoutedServer): (store: ResourceStore) => VerbTable<Handler> {
  const made = new HandlerTables(fastify)
  const tables = new WeakMap<ResourceStore, VerbTable<Handler>>()
  return store => {
    let table = tables.get(store)
    if (table === undefined) tables.set(store, table = new VerbTable(store, made.of(store)))
    return table
  }
}
