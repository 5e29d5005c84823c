/** Objects as they are stored: written in the form of `--storage-media-type`, read in any form. */
import { applyDefaults, decode, decodeProtobuf, encodeProtobuf, parseExactly, parseYaml, PROTOBUF_MAGIC, toJson, toYaml, UNBOUNDED, type ApiObject, type ResourceType } from '../schemas/index.js'
import { JSON_TYPE, PROTOBUF_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { isLarge } from '../event-loop/turns.js'

export const STORAGE_MEDIA_TYPES = [PROTOBUF_TYPE, JSON_TYPE, YAML_TYPE] as const
export type StorageMediaType = (typeof STORAGE_MEDIA_TYPES)[number]

const OPENING_BRACE = 0x7b

/** The form of a type's objects; custom resources are JSON in any case, as upstream. */
export const storedForm = ({ stored }: ResourceType, mediaType: StorageMediaType): StorageMediaType => stored.protobuf ? mediaType : JSON_TYPE

/** Encodes an object without its resourceVersion, which the store sets. */
export function encodeStored ({ stored: { message } }: ResourceType, form: StorageMediaType, object: ApiObject): Uint8Array {
  const { metadata } = object
  const { resourceVersion } = metadata
  if (resourceVersion !== undefined) metadata.resourceVersion = '' // temporary: a copy would dominate the cost
  try {
    if (form === PROTOBUF_TYPE) return encodeProtobuf(message, object)
    const json = Buffer.from(toJson(message, object))
    // Reading block style takes a second for each megabyte. JSON is YAML too.
    return form === JSON_TYPE || isLarge(json.length) ? json : Buffer.from(toYaml(parseExactly(json)))
  } finally {
    if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion
  }
}

/**
 * Decodes an object of any stored form, with defaults for fields added after it was stored.
 * @throws Error for damaged bytes; its message never quotes the object, which may be secret
 */
export function decodeStored ({ stored: { message }, anyStoredVersion }: ResourceType, value: Uint8Array): ApiObject {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  try {
    const object = bytes.subarray(0, PROTOBUF_MAGIC.length).equals(PROTOBUF_MAGIC)
      ? decodeProtobuf(message, bytes).object
      : decode(message, anyStoredVersion ? { ...parsed(bytes) as object, apiVersion: '' } : parsed(bytes), UNBOUNDED).object
    applyDefaults(message, object)
    return object
  } catch (error) {
    throw withoutQuotes(error)
  }
}

/** JSON errors and findings quote the value, which may be secret. So the new error has no cause. */
function withoutQuotes (error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.includes('"')) return error
  return new Error(error instanceof SyntaxError ? 'it is not valid JSON' : error.message.replace(/"[^]*"/, '"…"'))
}

const parsed = (bytes: Buffer): unknown => bytes[0] === OPENING_BRACE ? parseExactly(bytes) : parseYaml(bytes, UNBOUNDED).value
