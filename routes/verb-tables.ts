/** The verbs of a resource and its subresources. */
import type { ResourceStore } from '../registry/resource-store.js'
import { VerbTable } from '../registry/verb-table.js'
import type { Subresource } from '../schemas/subresource.js'
import { isServed } from '../schemas/resource.js'
import { notOffered, notSupported } from '../schemas/status.js'
import { oncePer } from '../schemas/once-per.js'
import type { Verb } from '../answers/answer.js'
import type { ServedRequest } from '../answers/request-context.js'
import type { AnyVerb } from '../answers/send.js'
import { applyObject, applyView, isApply } from './verbs/apply.js'
import { deleteCollectionVerb, deleteVerb } from './verbs/delete.js'
import { getSourceVerb, getVerb } from './verbs/get.js'
import { listSourceVerb, listVerb } from './verbs/list.js'
import { operationVerb } from './verbs/operate.js'
import { patchVerb } from './verbs/patch.js'
import { patchViewVerb, readViewVerb, updateViewVerb } from './verbs/view.js'
import { watchVerb } from './verbs/watch.js'
import { createVerb, updateVerb } from './verbs/write.js'
import type { RoutedServer } from './needs.js'

type Verbs = Readonly<Record<string, Verb>>

/** PATCH serves both patch and apply, distinguished by media type. */
const patchOrApply = (apply: Verb, patch: Verb): Verb => request => isApply(request) ? apply(request) : patch(request)

/** By subresource, '' for the object itself, then by verb. */
type Table = ReadonlyMap<string, Verbs>

/** What verbs find on the server. */
type VerbServer = Pick<RoutedServer, 'orchSettings' | 'orchResources'>

const connects = ({ connects }: Subresource): boolean => connects === true

const servedBelow = ({ representation, gates }: ResourceStore): readonly Subresource[] =>
  representation.subresources.filter(subresource => isServed(subresource, gates))

const only = (names: readonly string[], verbs: Verbs): Verbs =>
  Object.fromEntries(Object.entries(verbs).filter(([name]) => names.includes(name)))

/** The verbs of a server's types, as far as they need no connection. */
class VerbTables {
  readonly #fastify: VerbServer

  constructor (fastify: VerbServer) { this.#fastify = fastify }

  of (store: ResourceStore): Table {
    if (store.type.virtual) return new Map([['', this.#virtual(store)]])
    return new Map([
      ['', only(store.representation.verbs, this.#stored(store))],
      ...servedBelow(store).map(below => [below.name, only(below.verbs, this.#belowObject(store, below))] as const)
    ])
  }

  /** Of objects that are not stored: made when they are read, or an answer to what is created. */
  #virtual (store: ResourceStore): Verbs {
    const { orchResources: resources } = this.#fastify
    const { verbs } = store.representation
    const [source, operation] = [resources.source(store.type), resources.operation(store.type)]
    if (operation !== undefined) return only(verbs, { create: operationVerb(store, operation) })
    if (source === undefined) return {}
    return {
      ...only(verbs, { get: getSourceVerb(store, source), list: listSourceVerb(store, source) }),
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

  /** A view of the object, an operation on it, or a part of it, such as its status. */
  #belowObject (store: ResourceStore, subresource: Subresource): Verbs {
    const { view, name, kind, verbs } = subresource
    if (view !== undefined) {
      const patch = patchOrApply(request => applyView(store, view, request), patchViewVerb(store, view))
      return { get: readViewVerb(store, view), update: updateViewVerb(store, view), patch }
    }
    const operation = this.#fastify.orchResources.operation(store.type, name)
    if (operation !== undefined) return { create: operationVerb(store, operation) }
    const { kind: own, plural } = store.representation
    if ((kind ?? own) === own && !connects(subresource)) return this.#object(store)
    return Object.fromEntries(verbs.map(verb => [verb, () => { throw notOffered(`${plural}/${name}`) }]))
  }
}

/**
 * For requests of this process; verbs of connections answer that they are not offered. A store's table is made when the
 * first request comes: most resources get none.
 */
export function verbTables (fastify: VerbServer): (store: ResourceStore) => VerbTable<Verb> {
  const verbs = new VerbTables(fastify)
  return oncePer(store => new VerbTable(store, verbs.of(store)))
}

/** The same with those of connections. */
export function connectingVerbTables (fastify: RoutedServer): (store: ResourceStore) => VerbTable<AnyVerb> {
  const { orchConnections: connections } = fastify
  const verbs = new VerbTables(fastify)
  return oncePer(store => {
    const all = new Map<string, Readonly<Record<string, AnyVerb>>>(verbs.of(store))
    for (const { name, verbs } of servedBelow(store).filter(connects)) {
      const connect = connections.get(`${store.representation.plural}/${name}`)
      if (connect === undefined) continue
      all.set(name, Object.fromEntries(verbs.map(verb => [verb, (request: ServedRequest) => connect(store, request)])))
    }
    return new VerbTable(store, all)
  })
}
