/**
 * One resource type in the store: its declaration, its strategy, where its keys are, how its objects
 * become bytes and back, and the cache that reads are answered from. The operations are functions over it.
 */
import { decode, decodeProtobuf, encodeProtobuf, fieldValues, joinJson, PROTOBUF_MAGIC, splitJson, toJson } from '../schemas/index.js'
import type { ApiObject, ResourceDefinition, SplitJson } from '../schemas/index.js'
import { JSON_TYPE } from '../schemas/media-types.js'
import type { PROTOBUF_TYPE } from '../schemas/media-types.js'
import type { GroupResource } from '../schemas/status.js'
import type { AdmissionChain } from './admission-chain.js'
import type { Backend, KeyValue, Revision } from './backend.js'
import { ownBytes } from './cache/bytes.js'
import type { Slab } from './cache/bytes.js'
import { Entry } from './cache/entry.js'
import { WatchCache } from './cache/watch-cache.js'
import { StorageError } from './errors.js'
import { rangeOf } from './key.js'
import type { Strategy } from './strategy.js'

export type StorageMediaType = typeof JSON_TYPE | typeof PROTOBUF_TYPE

export interface ResourceStoreOptions {
  readonly definition: ResourceDefinition
  readonly strategy: Strategy
  readonly backend: Backend
  /** `/registry` */
  readonly prefix: string
  readonly mediaType: StorageMediaType
  readonly admission: AdmissionChain
  /** Events its cache keeps for watches at least; 0 answers everything from the back end. */
  readonly windowSize: number
  readonly log: (message: string, error: unknown) => void
}

/** Keys are printable ASCII; the rest of a name is percent-encoded, and so is the percent sign, so that no two names share a key. */
function keyPart (name: string): string {
  return /^[!-$&-~]*$/.test(name) ? name : name.toWellFormed().replace(/[^!-$&-~]/gu, encodeURIComponent)
}

export class ResourceStore {
  readonly definition: ResourceDefinition
  readonly strategy: Strategy
  readonly backend: Backend
  readonly admission: AdmissionChain
  /** Undefined where reads are answered by the back end. */
  readonly cache: WatchCache | undefined
  /** How errors name the resource. */
  readonly resource: GroupResource
  readonly #root: string
  readonly #protobuf: boolean

  constructor (options: ResourceStoreOptions) {
    const { definition, prefix, backend } = options
    this.definition = definition
    this.strategy = options.strategy
    this.backend = backend
    this.admission = options.admission
    this.resource = { group: definition.group, resource: definition.plural }
    this.#root = `${prefix}/${definition.storagePrefix}`
    this.#protobuf = definition.protobuf && options.mediaType !== JSON_TYPE
    this.cache = options.windowSize === 0
      ? undefined
      : new WatchCache({
        backend,
        scope: this.scope(''),
        decode: (kv, revision, slab) => this.decode(kv, revision, slab),
        windowSize: options.windowSize,
        log: options.log
      })
  }

  /** Resolves when reads can be answered. */
  async open (): Promise<void> { await this.cache?.open() }

  close (): void { this.cache?.close() }

  key (namespace: string, name: string): string {
    const { namespaced } = this.definition
    return namespaced ? `${this.#root}/${keyPart(namespace)}/${keyPart(name)}` : `${this.#root}/${keyPart(name)}`
  }

  /** The path above the keys of a namespace, or of all with ''; ends in '/'. */
  scope (namespace: string): string {
    return namespace === '' || !this.definition.namespaced ? `${this.#root}/` : `${this.#root}/${keyPart(namespace)}/`
  }

  /** The keys of a namespace, or of all with ''. */
  range (namespace: string): { start: string, end: string } { return rangeOf(this.scope(namespace)) }

  /** The bytes to store: without resourceVersion, which is the store's own to say. */
  encode (object: ApiObject): Uint8Array {
    const { resourceVersion, ...metadata } = object.metadata
    const bare = resourceVersion === undefined ? object : { ...object, metadata }
    const { message } = this.definition
    return this.#protobuf ? encodeProtobuf(message, bare) : Buffer.from(toJson(message, bare))
  }

  /** @throws StorageError 'Corrupt' */
  decode (kv: KeyValue, revision: Revision, slab?: Slab): Entry {
    return this.entry(kv.key, this.#object(kv), revision, slab)
  }

  /** The enveloped protobuf of a version, made once. Copied, as the writer's own buffer has room to spare. */
  protobuf (entry: Entry): Buffer {
    return entry.derive('protobuf', ({ object }) => Buffer.from(encodeProtobuf(this.definition.message, object)))
  }

  entry (key: string, object: ApiObject, revision: Revision, slab?: Slab): Entry {
    return this.#entry(key, object, toJson(this.definition.message, object, String(revision)), revision, slab)
  }

  /** Of an object that was not stored, and so has no resourceVersion. */
  unstored (key: string, object: ApiObject): Entry {
    return this.#entry(key, object, toJson(this.definition.message, object), 0, undefined)
  }

  /** The entries of one object at any revision, its JSON made once. */
  entries (key: string, object: ApiObject, json: SplitJson): (revision: Revision) => Entry {
    return revision => this.#entry(key, object, joinJson(json, String(revision)), revision, undefined)
  }

  /** Wire JSON that can be given any revision. */
  splitJson (object: ApiObject): SplitJson { return splitJson(this.definition.message, object) }

  #entry (key: string, object: ApiObject, json: string, revision: Revision, slab: Slab | undefined): Entry {
    return new Entry(key, revision, slab === undefined ? ownBytes(json) : slab.hold(json), object.metadata.labels, fieldValues(this.definition, object))
  }

  #object (kv: KeyValue): ApiObject {
    const bytes = Buffer.from(kv.value.buffer, kv.value.byteOffset, kv.value.byteLength)
    try {
      if (bytes.subarray(0, PROTOBUF_MAGIC.length).equals(PROTOBUF_MAGIC)) return decodeProtobuf(this.definition.message, bytes).object
      return decode(this.definition.message, JSON.parse(bytes.toString()), Infinity).object
    } catch (cause) {
      throw new StorageError('Corrupt', `the stored value of ${kv.key} can't be decoded`, { key: kv.key, cause })
    }
  }
}
