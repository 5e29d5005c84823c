/**
 * One resource type in the store: its strategy, where its keys are, how its objects become bytes and back, and the cache
 * that reads are answered from. The operations are functions over it and know what is stored alone; `as` gives the same
 * store as another representation of the type shows it, whose objects are derived from what is stored.
 */
import { applyDefaults, decode, decodeProtobuf, encodeProtobuf, fieldValues, parseExactly, PROTOBUF_MAGIC, splitJson, toJson, withoutNulls, UNBOUNDED } from '../schemas/index.js'
import type { ApiObject, Representation, ResourceType, Strategy } from '../schemas/index.js'
import { JSON_TYPE } from '../schemas/media-types.js'
import type { PROTOBUF_TYPE } from '../schemas/media-types.js'
import type { GroupResource } from '../schemas/status.js'
import type { Admission, AdmissionReader } from './admission.js'
import type { Backend, KeyValue, Revision, WriteOptions } from '../storage/backend.js'
import { ownBytes } from '../storage/bytes.js'
import { UnversionedJson } from '../storage/cache/unversioned.js'
import type { Subscriber } from '../storage/cache/subscribers.js'
import { Entry } from '../storage/cache/entry.js'
import { WatchCache } from '../storage/cache/watch-cache.js'
import type { Steps } from '../schemas/steps.js'
import { systemClock } from '../storage/clock.js'
import { StorageError } from '../storage/errors.js'
import { rangeOf } from '../storage/key.js'
import type { Allocation } from './operations/allocation.js'
import { timed, type StoreObserver } from '../storage/observer.js'
import { SharedLease } from '../storage/shared-lease.js'

const NOTHING_ELSE: AdmissionReader = { get: async () => undefined, list: async () => [] }

export type StorageMediaType = typeof JSON_TYPE | typeof PROTOBUF_TYPE

export interface ResourceStoreOptions {
  readonly type: ResourceType
  readonly backend: Backend
  /** `/registry` */
  readonly prefix: string
  readonly mediaType: StorageMediaType
  readonly admission: Admission
  /** What admission may look at beside. Default nothing. */
  readonly reader?: AdmissionReader
  /** Events its cache keeps for watches at least; 0 answers everything from the back end. */
  readonly windowSize: number
  /** How long objects of a type stay that do not stay for ever, and their leases are used for new ones. Default what the type says, and a minute. */
  readonly ttlSeconds?: number | undefined
  readonly leaseReuseSeconds?: number | undefined
  /** False where nobody sees to what depends on an object: a deletion then asks for nothing of the kind. Default true. */
  readonly garbageCollection?: boolean | undefined
  /** Of what its objects have that no other may have. Default they have nothing of the kind. */
  readonly allocation?: Allocation | undefined
  /** Told of what becomes of it. Default nobody is. */
  readonly observer?: StoreObserver | undefined
  readonly log: (message: string, error: unknown) => void
}

/** Resolves when it knows of a write at that revision, or has waited long enough. Does not reject. */
export type CommitListener = (revision: Revision) => Promise<void>

/** Keys are printable ASCII; the rest of a name is percent-encoded, and so is the percent sign, so that no two names share a key. */
function keyPart (name: string): string {
  return /^[!-$&-~]*$/.test(name) ? name : name.toWellFormed().replace(/[^!-$&-~]/gu, encodeURIComponent)
}

export class ResourceStore {
  readonly type: ResourceType
  /** What is in the store, and what operations work on. */
  readonly stored: Representation
  /** What clients of this one send and get. */
  readonly representation: Representation
  readonly strategy: Strategy
  /** What a deletion does with dependents where nobody says; `left` where nobody collects garbage, and no finalizer would be taken away. */
  readonly dependents: Strategy['dependents'] | 'left'
  readonly backend: Backend
  readonly admission: Admission
  readonly reader: AdmissionReader
  readonly allocation: Allocation | undefined
  readonly observer: StoreObserver | undefined
  /** Undefined where reads are answered by the back end. */
  readonly cache: WatchCache | undefined
  /** How errors name the resource. */
  readonly resource: GroupResource
  readonly #root: string
  readonly #protobuf: boolean

  readonly #options: ResourceStoreOptions
  readonly #versions = new Map<Representation, ResourceStore>()
  readonly #uncached = new Set<Subscriber>()
  /** Of all representations. */
  readonly #commitListeners: Set<CommitListener>
  #leases: SharedLease | undefined

  /** @param of the store that this one shows as another representation */
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
    this.admission = options.admission
    this.reader = options.reader ?? NOTHING_ELSE
    this.allocation = options.allocation
    this.observer = observer
    this.resource = { group: representation.group, resource: representation.plural }
    this.#commitListeners = of === undefined ? new Set() : of.#commitListeners
    this.#root = `${prefix}/${type.storagePrefix}`
    this.#protobuf = type.stored.protobuf && options.mediaType !== JSON_TYPE
    this.cache = options.windowSize === 0 || of !== undefined
      ? of?.cache
      : new WatchCache({
        backend,
        scope: this.scope(''),
        decode: (kv, revision) => this.decode(kv, revision),
        windowSize: options.windowSize,
        observer,
        log: options.log
      })
  }

  /** The end of what is written now, of a type whose objects do not stay for ever. */
  async expiry (): Promise<WriteOptions> {
    const { ttlSeconds = this.type.ttlSeconds ?? 0, leaseReuseSeconds } = this.#options
    this.#leases ??= new SharedLease(this.backend, ttlSeconds, leaseReuseSeconds, systemClock, this.observer?.leased)
    return { lease: await this.#leases.current() }
  }

  /** Resolves when reads can be answered. */
  async open (): Promise<void> { await this.cache?.open() }

  close (): void { this.cache?.close() }

  /** Ends what it serves for good: its type is no more, and who watches it has to look anew. */
  retire (): void {
    const reason = new StorageError('Compacted', `${this.type.plural} are no longer served`)
    this.cache?.close(reason)
    for (const other of [this, ...this.#versions.values()]) for (const subscriber of [...other.#uncached]) subscriber.end(reason)
  }

  /** Of a watch that is not fed by the cache: it is told when the store retires. */
  trackUncached (subscriber: Subscriber): void { this.#uncached.add(subscriber) }
  untrackUncached (subscriber: Subscriber): void { this.#uncached.delete(subscriber) }

  /** From now on a write is acknowledged when this one knows of it, so that what it decides next is by that. @returns what ends it */
  onCommitted (one: CommitListener): () => void {
    this.#commitListeners.add(one)
    return () => { this.#commitListeners.delete(one) }
  }

  /** Resolves when a write at that revision, which was made through this server, may be acknowledged. */
  async acknowledge (revision: Revision): Promise<void> {
    for (const one of this.#commitListeners) await one(revision)
  }

  /** The same store, as clients of another representation of its type see it. */
  forVersion (representation: Representation): ResourceStore {
    if (representation === this.representation) return this
    let other = this.#versions.get(representation)
    if (other === undefined) this.#versions.set(representation, other = new ResourceStore(this.#options, representation, this))
    return other
  }

  /** An entry of the store as this representation shows it, made once per version of the object while it is used. */
  toVersion (entry: Entry): Entry {
    const { conversion } = this.representation
    if (conversion === undefined) return entry
    return entry.derive(this.representation.apiVersion, made => {
      const object = conversion.fromStored(this.readStored(made))
      const json = made.revision === 0 ? toJson(this.representation.message, object) : toJson(this.representation.message, object, String(made.revision))
      return new Entry(made.key, made.revision, ownBytes(json), made.labels, made.fields)
    })
  }

  /** What is stored, as decoding makes objects, for one look. Treat it as frozen. */
  readStored (entry: Entry): ApiObject { return entry.written ?? withoutNulls(this.stored.message, entry.read()) }

  /** Decodes the stored object as `readStored` does, in steps. Treat it as frozen. */
  * readingStored (entry: Entry): Steps<ApiObject> {
    if (entry.written !== undefined) return entry.written
    const object = entry.read()
    yield
    return withoutNulls(this.stored.message, object)
  }

  /** An object of the store as this representation shows it, for whoever means to change it. */
  convertCopy (entry: Entry): ApiObject { return this.representation.conversion === undefined ? entry.copy() : this.toVersion(entry).copy() }

  /** What a client sent, with the defaults of the version it is in, as it is stored. In place where it is stored as it is. */
  fromVersion (object: ApiObject): ApiObject {
    applyDefaults(this.representation.message, object)
    const { conversion } = this.representation
    if (conversion === undefined) return object
    const stored = conversion.toStored(object)
    applyDefaults(this.stored.message, stored)
    return stored
  }

  key (namespace: string, name: string): string {
    const { namespaced } = this.type
    return namespaced ? `${this.#root}/${keyPart(namespace)}/${keyPart(name)}` : `${this.#root}/${keyPart(name)}`
  }

  /** The path above the keys of a namespace, or of all with ''; ends in '/'. */
  scope (namespace: string): string {
    return namespace === '' || !this.type.namespaced ? `${this.#root}/` : `${this.#root}/${keyPart(namespace)}/`
  }

  /** The keys of a namespace, or of all with ''. */
  range (namespace: string): { start: string, end: string } { return rangeOf(this.scope(namespace)) }

  /** The bytes to store: without resourceVersion, which is the store's own to say. */
  encode (object: ApiObject): Uint8Array {
    const { metadata } = object
    const { resourceVersion } = metadata
    const { message } = this.stored
    if (resourceVersion !== undefined) metadata.resourceVersion = '' // for now: a copy without it would cost more than all the rest
    try {
      return this.#protobuf ? encodeProtobuf(message, object) : Buffer.from(toJson(message, object))
    } finally {
      if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion
    }
  }

  /** @throws StorageError 'Corrupt' */
  decode (kv: KeyValue, revision: Revision): Entry {
    return this.entry(kv.key, this.#object(kv), revision)
  }

  /** The enveloped protobuf of a shown version, made once. */
  protobuf (entry: Entry): Buffer {
    return entry.derive('protobuf', ({ object }) => encodeProtobuf(this.representation.message, object))
  }

  entry (key: string, object: ApiObject, revision: Revision): Entry {
    return this.#entry(key, object, ownBytes(toJson(this.stored.message, object, String(revision))), revision)
  }

  /** Of an object that was not stored, and so has no resourceVersion. */
  unstored (key: string, object: ApiObject): Entry {
    return this.#entry(key, object, ownBytes(toJson(this.stored.message, object)), 0)
  }

  /** The entries of one object at any revision, its JSON made once. */
  entries (key: string, object: ApiObject, json: UnversionedJson): (revision: Revision) => Entry {
    return revision => this.#entry(key, object, json.at(revision), revision)
  }

  /** Wire JSON that can be given any revision. */
  unversioned (object: ApiObject): UnversionedJson { return new UnversionedJson(splitJson(this.stored.message, object)) }

  #entry (key: string, object: ApiObject, json: Buffer, revision: Revision): Entry {
    return new Entry(key, revision, json, object.metadata.labels, fieldValues(this.stored, object))
  }

  #object (kv: KeyValue): ApiObject {
    if (kv.damage !== undefined) throw kv.damage
    const bytes = Buffer.from(kv.value.buffer, kv.value.byteOffset, kv.value.byteLength)
    try {
      const { message } = this.stored
      const object = bytes.subarray(0, PROTOBUF_MAGIC.length).equals(PROTOBUF_MAGIC)
        ? decodeProtobuf(message, bytes).object
        : decode(message, parseExactly(bytes), UNBOUNDED).object
      applyDefaults(message, object) // of fields that were added since it was stored
      return object
    } catch (cause) {
      throw new StorageError('Corrupt', `the stored value of ${kv.key} can't be decoded`, { key: kv.key, cause })
    }
  }
}
