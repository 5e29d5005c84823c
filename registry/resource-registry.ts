/** The resource types of a server and the versions it serves of them. Types can be added and removed at run time. */
import type { Message } from '../schemas/language/declare.js'
import { ResourceStore, type ResourceStoreOptions, type Siblings } from './resource-store.js'
import type { Subresource } from '../schemas/subresource.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import { isServed, type Representation, type ResourceType } from '../schemas/resource.js'
import type { RequestInfo } from '../auth/request-info.js'
import type { Backend } from '../storage/backend.js'
import { type Clock, systemClock } from '../event-loop/clock.js'
import type { Admission } from './admission.js'
import type { Allocation } from './allocation.js'
import type { StoreObserver } from '../storage/observer.js'
import { ServedVersions, type ServedVersion } from './served-versions.js'
import { hasPath } from './verb-table.js'
import type { Target, WriteContext } from './write-context.js'

/** Options of a store that differ by type. */
type OfType =
  'type' | 'backend' | 'unconverted' | 'windowSize' | 'admission' | 'allocation' | 'siblings' | 'observer'

export interface RegistryOptions extends Omit<ResourceStoreOptions, OfType> {
  /** As `windowSize` of a store. */
  readonly windowSizeOf: (group: string, plural: string) => number
  /** The back end of a resource, `--etcd-servers-overrides`. */
  readonly backendOf: (group: string, plural: string) => Backend
  /** Default that of `admitWith`. */
  readonly admission?: Admission
  /** The allocation of unique values for a resource. Default none. */
  readonly allocationOf?: (group: string, plural: string) => Allocation | undefined
  /** Observes the store of a type. Default none. */
  readonly observerOf?: (type: ResourceType) => StoreObserver | undefined
}

/** The implementation of a virtual resource or a subresource. */
export interface VirtualOperation {
  /** Message of request and response, if it is not that of the resource. */
  readonly message?: Message<ApiObject>
  /** Other versions of that message, chosen by apiVersion. */
  readonly otherMessages?: ReadonlyArray<Message<ApiObject>>
  /** Message of the response, if it differs from the request's. */
  readonly answer?: Message<object>
  /** @returns the response. Throws a StatusError to refuse. */
  readonly run: (object: ApiObject, target: Target, context: WriteContext) => object | Promise<object>
}

/** Lists the objects of a readable virtual resource; called on each read. */
export type Source = () => readonly ApiObject[] | Promise<readonly ApiObject[]>

/** How the versions of a type are converted, if a webhook does. */
export interface WebhookVersions {
  readonly siblings: Siblings
  /** Wraps the resource's back end to convert what is stored in other versions; the type is then not cached. */
  readonly wrapBackend?: ((backend: Backend) => Backend) | undefined
}

/** A resource as requests name it. */
export interface ResourceName { readonly group: string, readonly version: string, readonly resource: string }

export class ResourceRegistry {
  readonly #options: RegistryOptions
  #admission: Admission | undefined
  readonly #stores = new Map<string, ResourceStore>()
  readonly #operations = new Map<string, VirtualOperation>()
  readonly #sources = new Map<string, Source>()
  /** Keyed by plural only: a key of all three would allocate a string per request. */
  readonly #served = new Map<string, ResourceStore[]>()
  /** The types in `#served`, and those whose versions other servers serve in place of this one. */
  readonly #own = new Map<string, ResourceStore[]>()
  #delegated: ReadonlySet<string> = new Set()
  /** The types in `#served`. */
  readonly #versions = new ServedVersions()
  readonly #listeners = new Set<() => void>()
  #opened = false
  #generation = 0

  constructor (options: RegistryOptions) {
    this.#options = options
    this.#admission = options.admission
  }

  /** Admits the writes of the types that are added from now on. */
  admitWith (admission: Admission): void { this.#admission = admission }

  /** The time that clients see. */
  get clock (): Clock { return this.#options.clock ?? systemClock }

  /** Changes with the set of served types, so that derived documents can be rebuilt. */
  get generation (): number { return this.#generation }

  /**
   * Calls `listener` after each change of the served types; a type that is replaced causes several.
   * @returns removes it
   */
  onChange (listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  /** Registers a type without serving it. @throws TypeError if it exists */
  add (type: ResourceType, versions?: WebhookVersions): ResourceStore {
    const name = `${type.group}/${type.plural}`
    if (this.#stores.has(name)) throw new TypeError(`resource ${name} is there already`)
    const store = this.#storeOf(type, versions)
    this.#stores.set(name, store)
    // Stores added later load their caches at once; earlier requests wait for that.
    if (this.#opened) {
      store.open().catch((error: unknown) => { this.#options.log(`${type.plural} could not be loaded`, error) })
    }
    return store
  }

  /**
   * Serves another version of a type from a store whose back end converts. `find` and `all` do not return that store,
   * because its objects are those of the type.
   * @returns a function that removes it
   */
  serveConvertedVersion (type: ResourceType, versions: WebhookVersions): () => void {
    const store = this.#storeOf(type, versions)
    const { stored } = type
    this.#enter(type.plural, store)
    return () => {
      this.withdraw(stored)
      store.retire()
    }
  }

  #storeOf (type: ResourceType, { siblings, wrapBackend }: Partial<WebhookVersions> = {}): ResourceStore {
    const { backendOf, windowSizeOf, allocationOf, observerOf, ...rest } = this.#options
    const { group, plural } = type
    const admission = this.#admission
    if (admission === undefined) {
      throw new TypeError(`resource ${group}/${plural} cannot be added before admission is set: call admitWith first`)
    }
    const backend = backendOf(group, plural)
    return new ResourceStore({
      ...rest,
      admission,
      type,
      backend: wrapBackend?.(backend) ?? backend,
      unconverted: wrapBackend === undefined ? undefined : backend,
      windowSize: type.virtual || wrapBackend !== undefined ? 0 : windowSizeOf(group, plural),
      allocation: allocationOf?.(group, plural),
      siblings,
      observer: type.virtual ? undefined : observerOf?.(type)
    })
  }

  /** Removes a type: it is no longer served and its watches end as expired. Stored objects stay. */
  remove (type: ResourceType): void {
    const name = `${type.group}/${type.plural}`
    const store = this.#stores.get(name)
    if (store === undefined) return
    for (const representation of type.representations) this.withdraw(representation)
    this.#stores.delete(name)
    store.retire()
  }

  /** Serves a version of a type. @throws TypeError if the type is missing */
  serve (representation: Representation): ResourceStore {
    const { type: { group, plural } } = representation
    const store = this.#stores.get(`${group}/${plural}`)
    if (store === undefined) throw new TypeError(`resource ${group}/${plural} is not there`)
    this.withdraw(representation)
    const served = store.forVersion(representation)
    this.#enter(plural, served)
    return served
  }

  withdraw (representation: Representation): void {
    const { plural } = representation
    const remaining = this.#own.get(plural)?.filter(served => served.representation !== representation) ?? []
    if (remaining.length > 0) this.#own.set(plural, remaining)
    else this.#own.delete(plural)
    this.#settle(plural)
    this.#changed()
  }

  /**
   * Stops serving these group versions (`apps/v1`, `v1` of the core group), because APIServices name other servers for
   * them. Replaces the previous set.
   */
  delegate (apiVersions: ReadonlySet<string>): void {
    const before = this.#delegated
    this.#delegated = apiVersions
    if (![...this.#own.values()].flat().some(({ representation: { apiVersion } }) =>
      before.has(apiVersion) !== apiVersions.has(apiVersion))) {
      return
    }
    for (const plural of this.#own.keys()) this.#settle(plural)
    this.#changed()
  }

  /** The representations of this server, also those that it delegates. */
  own (): readonly Representation[] {
    return [...this.#own.values()].flat().map(({ representation }) => representation)
  }

  #enter (plural: string, store: ResourceStore): void {
    this.#own.set(plural, [...this.#own.get(plural) ?? [], store])
    this.#settle(plural)
    this.#changed()
  }

  #settle (plural: string): void {
    const all = this.#own.get(plural) ?? []
    const served = all.filter(({ representation }) => !this.#delegated.has(representation.apiVersion))
    const before = this.#served.get(plural) ?? []
    for (const store of before) if (!served.includes(store)) this.#versions.delete(store)
    for (const store of served) if (!before.includes(store)) this.#versions.add(store)
    if (served.length > 0) this.#served.set(plural, served)
    else this.#served.delete(plural)
  }

  /** The store for a resource as a request names it; undefined if it is not served. */
  lookup ({ group, version, resource }: ResourceName): ResourceStore | undefined {
    return this.#served.get(resource)?.find(({ representation }) => representation.version === version &&
      representation.group === group)
  }

  /** True if a request's resource or subresource is served, with whatever verb. */
  serves (info: RequestInfo): boolean {
    const store = info.deeper === undefined ? this.lookup(info) : undefined
    if (store === undefined || !hasPath(store, info)) return false
    return info.subresource === '' || store.representation.subresources.some(subresource =>
      subresource.name === info.subresource && isServed(subresource, store.gates))
  }

  /** Registers what creating a virtual object, or posting to a subresource, does. Call it before the type is served. */
  provideOperation (
    type: Pick<ResourceType, 'group' | 'plural'>, subresource: string, operation: VirtualOperation
  ): void {
    this.#operations.set(`${type.group}/${type.plural}/${subresource}`, operation)
  }

  operation (type: Pick<ResourceType, 'group' | 'plural'>, subresource = ''): VirtualOperation | undefined {
    return this.#operations.get(`${type.group}/${type.plural}/${subresource}`)
  }

  /** Registers the source of a readable virtual type. Call it before the type is served. */
  provideSource (type: Pick<ResourceType, 'group' | 'plural'>, source: Source): void {
    this.#sources.set(`${type.group}/${type.plural}`, source)
  }

  source (type: Pick<ResourceType, 'group' | 'plural'>): Source | undefined {
    return this.#sources.get(`${type.group}/${type.plural}`)
  }

  /**
   * Subresources that requests can reach: those of the object itself, views, connections, and those with an operation.
   */
  subresourcesOf ({ representation, type, gates }: ResourceStore): readonly Subresource[] {
    const served = representation.subresources.filter(subresource => isServed(subresource, gates))
    return served.filter(({ name, kind, view, connects }) => view !== undefined || connects === true ||
      kind === undefined || kind === representation.kind || this.operation(type, name) !== undefined)
  }

  /** All served representations, in discovery order. */
  served (): readonly ResourceStore[] { return this.#versions.stores() }

  /** All served group versions, in discovery order. */
  servedVersions (): readonly ServedVersion[] { return this.#versions.inOrder() }

  /** Those of a group version; another array when one of them changes. */
  servedIn (group: string, version: string): readonly ResourceStore[] { return this.#versions.of(group, version) }

  /** The store of a type in its stored version. */
  find (group: string, plural: string): ResourceStore | undefined {
    return this.#stores.get(`${group}/${plural}`)
  }

  /** The stores of all types with stored objects. */
  all (): ResourceStore[] { return [...this.#stores.values()].filter(({ type }) => !type.virtual) }

  /** Resolves when every cache has loaded. */
  async open (): Promise<void> {
    this.#opened = true
    await Promise.all(this.all().map(store => store.open()))
  }

  close (): void {
    for (const store of this.#stores.values()) store.close()
  }

  #changed (): void {
    this.#generation++
    for (const listener of this.#listeners) listener()
  }
}
