/** Between objects of a type, their stored values and their entries in memory. */
import { splitJson, toJson, withoutEmptyStatus } from '../schemas/codec/json/encode.js'
import { Facts, type Message } from '../schemas/language/types.js'
import { withoutNulls } from '../schemas/language/unset.js'
import { anywhere, planOf } from '../schemas/language/plan.js'
import { ObjectMeta } from '../schemas/meta/object.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { ResourceType } from '../schemas/resource.js'
import { fieldValues } from '../schemas/selectors/fields.js'
import type { Steps } from '../schemas/steps.js'
import type { KeyValue, Revision } from '../storage/backend.js'
import { ownBytes } from '../storage/bytes.js'
import { decodedBefore, rememberDecoded } from '../storage/cache/decoded-values.js'
import { Entry } from '../storage/cache/entry.js'
import type { OrderedMap } from '../storage/cache/ordered-map.js'
import { forReading } from '../storage/cache/shared.js'
import { UnversionedJson } from '../storage/cache/unversioned.js'
import { marked } from './outgrown.js'
import { StoredCodec, type StoredCodecOptions } from './stored-form.js'

type StoredValues = ReadonlyMap<string, { readonly revision: Revision, readonly value: Uint8Array }>

/** Whether objects of a type have metadata below their own. */
const hasTemplate = ({ stored }: ResourceType): boolean => templated(planOf(stored.message))
const templated = anywhere(({ message, fields }) => fields.some(({ name, innermost }) =>
  innermost.message === ObjectMeta[Facts] && !(name === 'metadata' && message.type !== undefined)))

export class Entries {
  readonly #type: ResourceType
  readonly #codec: StoredCodec
  readonly #options: StoredCodecOptions
  #mayShare: boolean | undefined

  constructor (options: StoredCodecOptions) {
    this.#type = options.type
    this.#codec = new StoredCodec(options)
    this.#options = options
  }

  /** Corrected defaults depend on the server's gates: others may not share what it decodes. */
  get #isShared (): boolean {
    const { defaults, omitsUnsetTimes, omitsStatus = false, type } = this.#options
    this.#mayShare ??= !defaults.exist && !omitsStatus && !(omitsUnsetTimes && hasTemplate(type))
    return this.#mayShare
  }

  /** Encodes an object without its resourceVersion, which the store sets. */
  encode (object: ApiObject): Uint8Array { return this.#codec.encode(object) }

  /** @throws StorageError 'Corrupt', 'Undecryptable' */
  decode (kv: KeyValue, revision: Revision): Entry {
    const sharedEntry = this.#isShared && kv.damage === undefined
      ? decodedBefore(kv.value, this.#type, kv.key, revision)
      : undefined
    return sharedEntry ?? this.of(kv.key, this.#codec.decode(kv), revision)
  }

  /** The stored object as decoding makes it, for a single use. Treat it as frozen. */
  read (entry: Entry): ApiObject {
    return entry.decoded ?? forReading(withoutNulls(this.#type.stored.message, entry.copy()))
  }

  /** Of a value that is not stored yet. @throws as `decode` */
  object (key: string, value: Uint8Array): ApiObject {
    return this.#codec.decode({ key, value, createRevision: 0, modRevision: 0 })
  }

  of (key: string, object: ApiObject, revision: Revision): Entry {
    return this.#entry(key, object, ownBytes(this.json(this.#type.stored.message, object, String(revision))), revision)
  }

  /** Of an object that is not stored and has no resourceVersion. */
  unstored (key: string, object: ApiObject): Entry {
    return this.#entry(key, object, ownBytes(this.json(this.#type.stored.message, object)), 0)
  }

  /** Of an object at any revision, sharing its JSON. */
  at (key: string, object: ApiObject, json: UnversionedJson): (revision: Revision) => Entry {
    return revision => this.#entry(key, object, json.at(revision), revision)
  }

  /** JSON without a resourceVersion, which can be added later. */
  * unversioned (object: ApiObject): Steps<UnversionedJson> {
    const { head, tail } = yield * splitJson(this.#type.stored.message, object, this.#options.omitsUnsetTimes)
    return new UnversionedJson({ head, tail: this.#trimmed(tail) })
  }

  /** The JSON of an object in any version of the type. */
  json<T extends ApiObject> (message: Message<T>, object: T, resourceVersion?: string): string {
    return this.#trimmed(toJson(message, object, resourceVersion, this.#options.omitsUnsetTimes))
  }

  #trimmed (json: string): string { return this.#options.omitsStatus === true ? withoutEmptyStatus(json) : json }

  /** Shares entries with servers of this process that continue from these values. */
  share (map: OrderedMap<Entry>, { start, end }: { start: string, end: string }, values: StoredValues): void {
    if (!this.#isShared) return
    map.forEach(start, end, entry => {
      const stored = values.get(entry.key)
      if (stored?.revision === entry.revision) rememberDecoded(stored.value, this.#type, entry)
      return true
    })
  }

  #entry (key: string, object: ApiObject, json: Buffer, revision: Revision): Entry {
    return marked(
      new Entry(key, revision, json, object.metadata.labels, fieldValues(this.#type.stored, object)), object
    )
  }
}
