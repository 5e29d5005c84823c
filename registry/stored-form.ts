/** Objects as they are stored: written in the form of `--storage-media-type`, read in any form. */
import { toJson } from '../schemas/codec/json/encode.js'
import { parseExactly } from '../schemas/codec/json/exact.js'
import { UNBOUNDED } from '../schemas/codec/json/parse.js'
import { decodeProtobuf } from '../schemas/codec/protobuf/decode.js'
import { encodeProtobuf, MAGIC as PROTOBUF_MAGIC } from '../schemas/codec/protobuf/encode.js'
import { toYaml } from '../schemas/codec/yaml/yaml-write.js'
import { parseYaml } from '../schemas/codec/yaml/yaml.js'
import { decode } from '../schemas/language/decode.js'
import type { Gates } from '../schemas/gates.js'
import { applyDefaults } from '../schemas/language/defaults.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { ResourceType } from '../schemas/resource.js'
import { DocumentError, MismatchError } from '../schemas/language/decode-error.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { isLarge } from '../event-loop/turns.js'
import type { KeyValue } from '../storage/backend.js'
import { isEncrypted } from '../storage/encryption/forms.js'
import { undecryptable } from '../storage/encryption/providers.js'
import { StorageError } from '../storage/errors.js'
import type { ObjectKeys } from './keys.js'
import type { LaterDefaults } from './later-defaults.js'

export const STORAGE_MEDIA_TYPES = [PROTOBUF_TYPE, JSON_TYPE, YAML_TYPE] as const
export type StorageMediaType = (typeof STORAGE_MEDIA_TYPES)[number]

const OPENING_BRACE = 0x7b

/** The form of a type's objects; custom resources are JSON in any case, as upstream. */
const storedForm = ({ stored }: ResourceType, mediaType: StorageMediaType): StorageMediaType =>
  stored.protobuf ? mediaType : JSON_TYPE

/** Encodes an object without its resourceVersion, which the store sets. */
function encodeStored ({ stored: { message } }: ResourceType, form: StorageMediaType, object: ApiObject): Uint8Array {
  if (form === PROTOBUF_TYPE) {
    const { resourceVersion, ...metadata } = object.metadata
    return encodeProtobuf(message, resourceVersion === undefined ? object : { ...object, metadata })
  }
  const json = Buffer.from(toJson(message, object, ''))
  // Reading block style takes a second for each megabyte. JSON is YAML too.
  return form === JSON_TYPE || isLarge(json.length) ? json : Buffer.from(toYaml(parseExactly(json)))
}

/**
 * Decodes an object of any stored form. Sets the defaults of fields that were added after it was stored, unless
 * `isComplete` says that it has them.
 * @throws Error for damaged bytes; its message never quotes the object, which may be secret
 */
export function decodeStored (
  { stored: { message }, anyStoredVersion }: ResourceType, value: Uint8Array, gates?: Gates, isComplete = false
): ApiObject {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  try {
    const object = bytes.subarray(0, PROTOBUF_MAGIC.length).equals(PROTOBUF_MAGIC)
      ? decodeProtobuf(message, bytes).object
      : decode(message, anyStoredVersion
        ? { ...parsed(bytes) as object, apiVersion: '' }
        : parsed(bytes), UNBOUNDED).object
    if (!isComplete) applyDefaults(message, object, gates)
    return object
  } catch (error) {
    throw withoutQuotes(error)
  }
}

/** Errors of documents quote them, and so do their causes. */
function withoutQuotes (error: unknown): unknown {
  if (error instanceof MismatchError) return new Error(error.withoutValue)
  return error instanceof DocumentError || error instanceof SyntaxError ? new Error('it is malformed') : error
}

const parsed = (bytes: Buffer): unknown =>
  bytes[0] === OPENING_BRACE ? parseExactly(bytes) : parseYaml(bytes, UNBOUNDED).value

export interface StoredCodecOptions {
  readonly type: ResourceType
  readonly mediaType: StorageMediaType
  readonly keys: ObjectKeys
  readonly gates: Gates
  /** Values are converted ones: defaults were set before. */
  readonly isComplete?: boolean
  readonly defaults: LaterDefaults
  /** As release 1.36 writes objects. */
  readonly omitsUnsetTimes: boolean
  /** The emulated release has no status of the type any more. */
  readonly omitsStatus?: boolean
}

/** The stored values of a type. */
export class StoredCodec {
  readonly #options: StoredCodecOptions
  readonly #form: StorageMediaType

  constructor (options: StoredCodecOptions) {
    this.#options = options
    this.#form = storedForm(options.type, options.mediaType)
  }

  /** Encodes an object without its resourceVersion, which the store sets. */
  encode (object: ApiObject): Uint8Array { return encodeStored(this.#options.type, this.#form, object) }

  /** @throws StorageError 'Corrupt', 'Undecryptable' */
  decode (kv: KeyValue): ApiObject {
    const { key, value, damage, unbound } = kv
    if (damage !== undefined) throw damage
    if (isEncrypted(value)) throw undecryptable(key, value)
    const object = this.#decoded(kv)
    if (unbound !== true || this.#options.keys.isOf(key, object)) return object
    throw new StorageError('Corrupt', `the stored value of ${key} is that of another object`, { key })
  }

  #decoded ({ key, value }: KeyValue): ApiObject {
    const { type, gates, isComplete, defaults } = this.#options
    try {
      const object = decodeStored(type, value, gates, isComplete)
      defaults.fill(object)
      return object
    } catch (cause) {
      throw new StorageError('Corrupt', `the stored value of ${key} can't be decoded`, { key, cause })
    }
  }
}
