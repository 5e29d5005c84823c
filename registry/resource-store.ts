/**
 * One resource type at run time: its strategy, and the cache that serves reads. Operations are functions of a store and
 * work on the stored version; `forVersion` returns the same store for another representation, whose objects are
 * converted.
 */
import type { Strategy } from '../schemas/strategy.js'
import { resourceLabel, type Representation, type ResourceType } from '../schemas/resource.js'
import { placeOf } from '../schemas/selectors/fields.js'
import { tabularOf, type Tabular } from '../schemas/table.js'
import { GatedFields, lacksStatus } from '../schemas/language/gated.js'
import { DEFAULT_GATES, type Gates } from '../schemas/gates.js'
import type { GroupResource } from '../schemas/status.js'
import type { Admission, AdmissionReader } from './admission.js'
import type { Backend, Revision } from '../storage/backend.js'
import type { Subscriber } from '../storage/cache/subscribers.js'
import { WatchCache } from '../storage/cache/watch-cache.js'
import { type Clock, systemClock } from '../event-loop/clock.js'
import { StorageError } from '../storage/errors.js'
import { unwrap } from '../storage/wrapped.js'
import type { Allocation } from './allocation.js'
import { Conversion } from './conversion.js'
import { ObjectKeys } from './keys.js'
import { Entries } from './entries.js'
import { LaterDefaults } from './later-defaults.js'
import type { StorageMediaType } from './stored-form.js'
import { timed, type StoreObserver } from '../storage/observer.js'
import { EventLease } from './event-lease.js'

const EMPTY_READER: AdmissionReader = { get: async () => undefined, list: async () => [] }

/** The versions of a type that a webhook converts; each is a type with a store of its own. */
export interface Siblings {
  readonly representations: readonly Representation[]
  /** Converts objects as JSON has them. @throws StatusError 500 */
  readonly convert: (objects: readonly object[], apiVersion: string) => Promise<readonly object[]>
}

export interface ResourceStoreOptions {
  readonly type: ResourceType
  readonly backend: Backend
  /** The back end behind `backend`, if that converts objects. Default none. */
  readonly unconverted?: Backend | undefined
  /** For example `/registry`. */
  readonly prefix: string
  readonly mediaType: StorageMediaType
  /** Default the system's. */
  readonly clock?: Clock | undefined
  readonly admission: Admission
  /** Other objects that admission may read. Default none. */
  readonly reader?: AdmissionReader
  /** Minimum number of events the cache keeps for watches; 0 disables the cache. */
  readonly windowSize: number
  /**
   * Lifetime of expiring objects, and how long a lease is shared by new ones. Default that of the type, and one minute.
   */
  readonly ttlSeconds?: number | undefined
  readonly leaseReuseSeconds?: number | undefined
  /** False without a garbage collector: deletions then set no finalizer for it. Default true. */
  readonly garbageCollection?: boolean | undefined
  /** Allocates unique values of the objects. Default none. */
  readonly allocation?: Allocation | undefined
  /** Default: the representations of the type, which it converts itself. */
  readonly siblings?: Siblings | undefined
  /** Observes the store. Default none. */
  readonly observer?: StoreObserver | undefined
  /** Default: those of the release. */
  readonly gates?: Gates | undefined
  readonly log: (message: string, error: unknown) => void
}

/** Resolves when the listener has processed a write at that revision, or its timeout has passed. Never rejects. */
export type CommitListener = (revision: Revision) => Promise<void>

export class ResourceStore {
  readonly type: ResourceType
  /** The representation that is stored and that operations use. */
  readonly stored: Representation
  /** The representation that clients of this store use. */
  readonly representation: Representation
  readonly strategy: Strategy
  /**
   * Default treatment of dependents on deletion; `left` without a garbage collector, where finalizers stay untouched.
   */
  readonly dependents: Strategy['dependents'] | 'left'
  readonly backend: Backend
  /** Has objects in the versions in which they are stored, where `backend` converts them. */
  readonly unconverted: Backend | undefined
  readonly clock: Clock
  readonly admission: Admission
  readonly reader: AdmissionReader
  readonly allocation: Allocation | undefined
  readonly siblings: Siblings | undefined
  readonly observer: StoreObserver | undefined
  readonly gates: Gates
  readonly gated: GatedFields
  /** How objects are printed. */
  readonly tabular: Tabular
  /** The desired state that metadata.generation counts changes of. */
  readonly generation: ResourceType['generation']
  /** Undefined if the back end serves reads. */
  readonly cache: WatchCache | undefined
  /** Names the resource in errors. */
  readonly resource: GroupResource
  readonly keys: ObjectKeys
  readonly entries: Entries
  readonly defaults: LaterDefaults
  /** Between what is stored and what clients of this store send and read. */
  readonly conversion: Conversion
  /** Of objects that expire. Default they do not. */
  readonly leases: EventLease | undefined

  readonly #options: ResourceStoreOptions
  readonly #versions = new Map<Representation, ResourceStore>()
  readonly #uncached = new Set<Subscriber>()
  /** Shared by all representations. */
  readonly #commitListeners: Set<CommitListener>

  /** @param of the store of the stored version, for another representation */
  constructor (options: ResourceStoreOptions, representation = options.type.stored, of?: ResourceStore) {
    const { type, prefix, observer } = options
    const backend = of?.backend ?? (observer === undefined ? options.backend : timed(options.backend, observer.called))
    this.#options = options
    this.type = type
    this.stored = type.stored
    this.representation = representation
    this.strategy = type.strategy
    this.dependents = options.garbageCollection === false ? 'left' : representation.dependents
    this.backend = backend
    this.unconverted = options.unconverted
    this.clock = options.clock ?? systemClock
    this.admission = options.admission
    this.reader = options.reader ?? EMPTY_READER
    this.allocation = options.allocation
    this.siblings = options.siblings
    this.observer = observer
    this.gates = options.gates ?? DEFAULT_GATES
    this.tabular = tabularOf(representation, this.gates)
    const { generation, countsWith } = type
    this.generation = countsWith === undefined || this.gates.enabled(countsWith) ? generation : undefined
    this.gated = of?.gated ?? new GatedFields(type.stored.message, this.gates)
    this.defaults = of?.defaults ?? new LaterDefaults(type.strategy, this.gated, this.gates)
    this.resource = { group: representation.group, resource: representation.plural }
    this.#commitListeners = of === undefined ? new Set() : of.#commitListeners
    const { clock } = this
    this.keys = of?.keys ?? new ObjectKeys(`${prefix}/${type.storagePrefix}`, type.namespaced)
    this.entries = of?.entries ?? new Entries({
      type, mediaType: options.mediaType, keys: this.keys, gates: this.gates, defaults: this.defaults,
      isComplete: options.unconverted !== undefined,
      omitsUnsetTimes: this.gates.enabled('UnsetTimesAreOmitted'),
      omitsStatus: lacksStatus(type.stored.message, this.gates)
    })
    this.conversion = new Conversion(this)
    const { ttlSeconds = type.ttlSeconds, leaseReuseSeconds: reuseSeconds } = options
    const expiring = { backend, ttlSeconds: ttlSeconds ?? 0, reuseSeconds, clock, onReplaced: observer?.leased }
    const leases = type.ttlSeconds === undefined ? undefined : new EventLease(expiring)
    this.leases = of === undefined ? leases : of.leases
    this.cache = options.windowSize === 0 || of !== undefined
      ? of?.cache
      : new WatchCache({
          backend,
          type: resourceLabel(type),
          indexedFields: type.indexedFields.map(field => placeOf(field, type.stored)),
          scope: this.keys.scope(''),
          decode: (kv, revision) => this.entries.decode(kv, revision),
          decodesLate: unwrap(backend).shared === true && type.stored.protobuf,
          windowSize: options.windowSize,
          observer,
          log: options.log
        })
  }

  /** Resolves when the store can serve reads. */
  async open (): Promise<void> { await this.cache?.open() }

  close (): void { this.cache?.close() }

  /** Ends the store for good because its type was removed; watchers must list again. */
  retire (): void {
    const reason = new StorageError('Compacted', `${this.type.plural} are no longer served`)
    this.cache?.close(reason)
    for (const other of [this, ...this.#versions.values()]) {
      for (const subscriber of [...other.#uncached]) subscriber.end(reason)
    }
  }

  /** Registers a watch that the cache does not feed, so that `retire` ends it. */
  trackUncached (subscriber: Subscriber): void { this.#uncached.add(subscriber) }
  untrackUncached (subscriber: Subscriber): void { this.#uncached.delete(subscriber) }

  /** Adds a listener that each write waits for before it is acknowledged. @returns a function that removes it */
  onCommitted (listener: CommitListener): () => void {
    this.#commitListeners.add(listener)
    return () => { this.#commitListeners.delete(listener) }
  }

  /** Resolves when a write of this server at that revision may be acknowledged. */
  async acknowledge (revision: Revision): Promise<void> {
    for (const listener of this.#commitListeners) await listener(revision)
  }

  /** The same store for another representation of its type. */
  forVersion (representation: Representation): ResourceStore {
    if (representation === this.representation) return this
    let other = this.#versions.get(representation)
    if (other === undefined) {
      this.#versions.set(representation, other = new ResourceStore(this.#options, representation, this))
    }
    return other
  }

  /** Shares cached entries with servers of this process that continue from these values. */
  shareDecoded (values: Parameters<Entries['share']>[2]): void {
    if (this.cache !== undefined) this.entries.share(this.cache.snapshot.map, this.keys.range(''), values)
  }
}
