/** Encodes objects for the store, within size limits that hold on every back end. */
import type { ApiObject } from '../../schemas/index.js'
import { TooManyError } from '../../schemas/language/decode-error.js'
import { MAX_STORED_BYTES, MAX_VALUES } from '../../schemas/limits.js'
import { tooLarge } from '../../schemas/status.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import type { ResourceStore } from '../resource-store.js'
import { isLarge, nextTurn } from '../../storage/turns.js'

export interface EncodedObject {
  /** JSON for readers, for any resourceVersion. */
  readonly json: UnversionedJson
  readonly value: Uint8Array
}

/**
 * Refuses too large objects before further work; defaults can enlarge an object tenfold.
 * @throws StatusError 413
 */
export function refuseTooLarge (object: ApiObject): void {
  if (countValues(object, MAX_VALUES) > MAX_VALUES) throw tooLarge(`the object would hold more values with its defaults than the limit of ${MAX_VALUES}`)
}

/** Approximate bytes of JSON per value. */
const BYTES_PER_VALUE = 16
/** Smaller bodies stay small with their defaults. */
const GROWING_BYTES = 4096

/**
 * Approximate size of a decoded object with its defaults, precise enough to tell whether it is large.
 * @param from bytes of the body
 */
export function bytesOf (object: ApiObject, from: number, mayGrow = false): number {
  return isLarge(from) || (from < GROWING_BYTES && !mayGrow) ? from : Math.max(from, countValues(object, MAX_VALUES) * BYTES_PER_VALUE)
}

/** Runs `make` on a patched or applied object. @throws StatusError 413 if the object has too many values; any error of `make` */
export function reportTooLarge<T> (make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof TooManyError ? tooLarge(error.message.replace('the body holds', 'the object would hold')) : error
  }
}

/** Counts list items and object members, up to the limit. */
function countValues (value: object, limit: number): number {
  let count = 0
  for (const member of Array.isArray(value) ? value as unknown[] : Object.values(value)) {
    if (member === undefined) continue
    count++
    if (typeof member === 'object' && member !== null) count += countValues(member, limit - count)
    if (count > limit) break
  }
  return count
}

/** etcd limits the request, which also contains the key up to three times and the comparison. */
const REQUEST_BYTES = 2 * 1024

/**
 * Encodes an object, a large one in several event loop turns. A dry run encodes it too, to answer as the write would.
 * @param before bytes of JSON of the replaced object: an object over the limits may still shrink
 * @throws StatusError 413 if the object is too large to store
 */
export async function encodeObject (store: ResourceStore, object: ApiObject, json: UnversionedJson, before = 0): Promise<EncodedObject> {
  // Smaller objects are within the limits.
  return isLarge(json.length) ? await encodeLarge(store, object, json, before) : { json, value: store.encode(object) }
}

async function encodeLarge (store: ResourceStore, object: ApiObject, json: UnversionedJson, before: number): Promise<EncodedObject> {
  await nextTurn()
  const grows = json.length > before
  const values = json.values()
  if (grows && values > MAX_VALUES) throw tooLarge(`the object would hold ${values} values with the owners of its fields, limit is ${MAX_VALUES}`)
  await nextTurn()
  const value = store.encode(object)
  if (grows && value.length > MAX_STORED_BYTES - REQUEST_BYTES) throw tooLarge(`the object would be stored in ${value.length} bytes with the owners of its fields, limit is ${MAX_STORED_BYTES - REQUEST_BYTES}`)
  await nextTurn()
  return { json, value }
}
