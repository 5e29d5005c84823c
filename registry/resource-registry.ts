/**
 * The resource types a server has, by group and plural, and what of them is served: which representations, by the names
 * that requests have for them. Types come and go while the server runs.
 */
import type { ApiObject, Message, Representation, ResourceType, Subresource } from '../schemas/index.js'
import { compareGroups, compareVersions } from '../schemas/index.js'
import { ResourceStore } from './resource-store.js'
import type { ResourceStoreOptions } from './resource-store.js'
import type { Backend } from '../storage/backend.js'
import type { Allocation } from './operations/allocation.js'
import type { StoreObserver } from '../storage/observer.js'
import type { Target, WriteContext } from './operations/context.js'

export interface RegistryOptions extends Omit<ResourceStoreOptions, 'type' | 'backend' | 'windowSize' | 'allocation' | 'observer'> {
  /** As `windowSize` of a store. */
  readonly windowSizeOf: (group: string, plural: string) => number
  /** The back end of a resource, `--etcd-servers-overrides`. */
  readonly backendOf: (group: string, plural: string) => Backend
  /** Of what objects of a resource have that no other may have. Default nothing. */
  readonly allocationOf?: (group: string, plural: string) => Allocation | undefined
  /** Told of what becomes of a type. Default nobody is. */
  readonly observerOf?: (type: ResourceType) => StoreObserver | undefined
}

/** What a virtual resource or a subresource does. Given to the registry by whoever can do it. */
export interface Operation {
  /** Of what is sent and answered, where that is not the message of the resource. */
  readonly message?: Message<ApiObject>
  /** Other versions of that message, told apart by their apiVersion. */
  readonly otherMessages?: ReadonlyArray<Message<ApiObject>>
  /** Of what is answered, where that is another. */
  readonly answer?: Message<object>
  /** @returns what is answered. Throws a StatusError to refuse. */
  readonly run: (object: ApiObject, target: Target, context: WriteContext) => object | Promise<object>
}

/** What there is of a virtual resource that can be read: all of it, looked up each time. */
export type Source = () => readonly ApiObject[] | Promise<readonly ApiObject[]>

/** What a request calls a resource. */
export interface ResourceName { readonly group: string, readonly version: string, readonly resource: string }

export class ResourceRegistry {
  readonly #options: RegistryOptions
  readonly #stores = new Map<string, ResourceStore>()
  readonly #operations = new Map<string, Operation>()
  readonly #sources = new Map<string, Source>()
  /** By plural, then by comparing: a key of all three would be a string made for each request. */
  readonly #served = new Map<string, ResourceStore[]>()
  #inOrder: readonly ResourceStore[] | undefined
  #opened = false
  #generation = 0

  constructor (options: RegistryOptions) { this.#options = options }

  /** Rises when what is served changes; what is made of all of it is made anew then. */
  get generation (): number { return this.#generation }

  /** A type of whose objects there may be some; nothing of it is served yet. @throws TypeError when it is there already */
  add (type: ResourceType): ResourceStore {
    const name = `${type.group}/${type.plural}`
    if (this.#stores.has(name)) throw new TypeError(`resource ${name} is there already`)
    const { backendOf, windowSizeOf, allocationOf, observerOf, ...rest } = this.#options
    const { group, plural } = type
    const windowSize = type.virtual ? 0 : windowSizeOf(group, plural)
    const store = new ResourceStore({ ...rest, type, backend: backendOf(group, plural), windowSize, allocation: allocationOf?.(group, plural), observer: type.virtual ? undefined : observerOf?.(type) })
    this.#stores.set(name, store)
    // One that comes later loads its cache at once; requests that are there before wait for it.
    if (this.#opened) store.open().catch((error: unknown) => { this.#options.log(`${plural} could not be loaded`, error) })
    return store
  }

  /** Takes a type out: nothing of it is served any more, and its watches end as expired. What is stored stays. */
  remove (type: ResourceType): void {
    const name = `${type.group}/${type.plural}`
    const store = this.#stores.get(name)
    if (store === undefined) return
    for (const representation of type.representations) this.withdraw(representation)
    this.#stores.delete(name)
    store.retire()
  }

  /** Makes a version of a type reachable. @throws TypeError when its type is not there */
  serve (representation: Representation): ResourceStore {
    const { type: { group, plural } } = representation
    const store = this.#stores.get(`${group}/${plural}`)
    if (store === undefined) throw new TypeError(`resource ${group}/${plural} is not there`)
    this.withdraw(representation)
    const served = store.forVersion(representation)
    this.#served.set(plural, [...this.#served.get(plural) ?? [], served])
    this.#changed()
    return served
  }

  withdraw (representation: Representation): void {
    const { plural } = representation
    const left = this.#served.get(plural)?.filter(served => served.representation !== representation) ?? []
    if (left.length > 0) this.#served.set(plural, left)
    else this.#served.delete(plural)
    this.#changed()
  }

  /** What a request of that name is about; undefined for what is not served. */
  lookup ({ group, version, resource }: ResourceName): ResourceStore | undefined {
    return this.#served.get(resource)?.find(({ representation }) => representation.version === version && representation.group === group)
  }

  /** Says what creating an object of a virtual type, or posting to a subresource, does. Before the type is served. */
  provideOperation (type: Pick<ResourceType, 'group' | 'plural'>, subresource: string, operation: Operation): void {
    this.#operations.set(`${type.group}/${type.plural}/${subresource}`, operation)
  }

  operation (type: Pick<ResourceType, 'group' | 'plural'>, subresource = ''): Operation | undefined {
    return this.#operations.get(`${type.group}/${type.plural}/${subresource}`)
  }

  /** Says what there is of a virtual type that can be read. Before the type is served. */
  provideSource (type: Pick<ResourceType, 'group' | 'plural'>, source: Source): void {
    this.#sources.set(`${type.group}/${type.plural}`, source)
  }

  source (type: Pick<ResourceType, 'group' | 'plural'>): Source | undefined {
    return this.#sources.get(`${type.group}/${type.plural}`)
  }

  /** Subresources that can be asked for: those of the object itself, its views, its connections, and those somebody performs. */
  subresourcesOf ({ representation, type }: ResourceStore): readonly Subresource[] {
    return representation.subresources.filter(({ name, kind, view, connects }) => view !== undefined || connects === true || kind === undefined || kind === representation.kind || this.operation(type, name) !== undefined)
  }

  /** Every representation that is served, in the order of discovery. */
  served (): readonly ResourceStore[] {
    this.#inOrder ??= [...this.#served.values()].flat().sort(({ representation: one }, { representation: other }) =>
      compareGroups(one.group, other.group) || compareVersions(one.group, one.version, other.version))
    return this.#inOrder
  }

  /** The store of a type, as what is stored in it. */
  find (group: string, plural: string): ResourceStore | undefined {
    return this.#stores.get(`${group}/${plural}`)
  }

  /** Of every type whose objects are stored. */
  all (): ResourceStore[] { return [...this.#stores.values()].filter(({ type }) => !type.virtual) }

  /** Resolves when every cache has been loaded. */
  async open (): Promise<void> {
    this.#opened = true
    await Promise.all(this.all().map(store => store.open()))
  }

  close (): void {
    for (const store of this.#stores.values()) store.close()
  }

  #changed (): void {
    this.#generation++
    this.#inOrder = undefined
  }
}
