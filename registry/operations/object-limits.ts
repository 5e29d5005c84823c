/** Encodes objects for the store, within size limits that hold on every back end. */
import type { ApiObject } from '../../schemas/index.js'
import { TooManyError } from '../../schemas/language/decode-error.js'
import { MAX_STORED_BYTES, MAX_VALUES } from '../../schemas/limits.js'
import { tooLarge } from '../../schemas/status.js'
import { lacksDefaults, mayOutgrow } from '../../schemas/language/defaults.js'
import { valuesIn } from '../../schemas/language/growth.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import { refuseOutgrown, sizeWithDefaults } from '../outgrown.js'
import type { ResourceStore } from '../resource-store.js'
import { isLarge, nextTurn } from '../../event-loop/turns.js'
import type { WriteContext } from './context.js'

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
  if (valuesIn(object, MAX_VALUES) <= MAX_VALUES) return
  throw tooLarge(`the object would hold more values with its defaults than the limit of ${MAX_VALUES}`)
}

/** Smaller bodies stay small with their defaults. */
const GROWING_BYTES = 4096

/** Whether a small body may become a large object: schemas of definitions may have any defaults. */
export const mayGrow = ({ stored }: ResourceStore, context: Pick<WriteContext, 'mayGrow'>): boolean =>
  context.mayGrow === true || !stored.protobuf

/**
 * Approximate size of a decoded object with its defaults, precise enough to tell whether it is large.
 * @param from bytes of the body
 */
export function bytesOf (object: ApiObject, from: number, grows: boolean): number {
  return isLarge(from) || (from < GROWING_BYTES && !grows) ? from : Math.max(from, sizeWithDefaults(object))
}

/** Runs `make` on a patched or applied object. @throws StatusError 413 if the object has too many values; any error of `make` */
export function reportTooLarge<T> (make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof TooManyError ? tooLarge(`the object would hold more than ${error.limit}`) : error
  }
}

/** etcd limits the request, which also contains the key up to three times and the comparison. */
const REQUEST_BYTES = 2 * 1024

/**
 * Encodes an object, a large one in several event loop turns. A dry run encodes it too, to answer as the write would.
 * @param before bytes of JSON of the replaced object: an object over the limits may still shrink
 * @throws StatusError 413 if the object is too large to store
 */
export async function encodeObject (
  store: ResourceStore, object: ApiObject, json: UnversionedJson, before = 0
): Promise<EncodedObject> {
  if (json.length > before && !store.stored.protobuf) await refuseOutgrownElsewhere(store, object, json.length)
  // Smaller objects are within the limits.
  return isLarge(json.length) ? await encodeLarge(store, object, json, before) : { json, value: store.encode(object) }
}

/**
 * Refuses an object that would be too large in another served version, whose schema has other defaults.
 * @throws StatusError 413
 */
async function refuseOutgrownElsewhere ({ type }: ResourceStore, object: ApiObject, bytes: number): Promise<void> {
  for (const { message, conversion, limitsWrites, apiVersion } of type.representations) {
    if (!limitsWrites || conversion === undefined || !mayOutgrow(message, bytes)) continue
    if (isLarge(bytes)) await nextTurn()
    if (lacksDefaults(conversion.fromStored(object))) refuseOutgrown(object, apiVersion)
  }
}

async function encodeLarge (
  store: ResourceStore, object: ApiObject, json: UnversionedJson, before: number
): Promise<EncodedObject> {
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
