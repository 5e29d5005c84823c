/** An object as it goes into the store, within the bounds that hold on every back end. */
import type { ApiObject } from '../../schemas/index.js'
import { TooManyError } from '../../schemas/language/decode-error.js'
import { MOST_STORED_BYTES, MOST_VALUES } from '../../schemas/limits.js'
import { tooLarge } from '../../schemas/status.js'
import type { UnversionedJson } from '../../storage/cache/unversioned.js'
import type { ResourceStore } from '../resource-store.js'
import { isLarge, nextTurn } from '../../storage/turns.js'

export interface Storable {
  /** What readers get, at whatever version it has. */
  readonly json: UnversionedJson
  readonly value: Uint8Array
}

/**
 * Refuses what is too large already, before anything else is done with it: defaults can make an object ten times as large as it was sent.
 * @throws StatusError 413
 */
export function refuseHeavy (object: ApiObject): void {
  if (countDeep(object, MOST_VALUES) > MOST_VALUES) throw tooLarge(`the object would hold more values with its defaults than the limit of ${MOST_VALUES}`)
}

/** A value takes about so many bytes of JSON. */
const BYTES_OF_VALUE = 16
/** Of fewer bytes defaults do not make a large object. */
const GROWING_BYTES = 4096

/**
 * About the bytes of what was made of a body, with its defaults, as far as they decide whether it is large.
 * @param from bytes that it was made of
 */
export function bytesOf (object: ApiObject, from: number, mayGrow = false): number {
  return isLarge(from) || (from < GROWING_BYTES && !mayGrow) ? from : Math.max(from, countDeep(object, MOST_VALUES) * BYTES_OF_VALUE)
}

/** Makes an object of what a patch or an apply has made. @throws StatusError 413 for one that holds more than it may; whatever `make` throws */
export function bounded<T> (make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof TooManyError ? tooLarge(error.message.replace('the body holds', 'the object would hold')) : error
  }
}

/** List items and object members, as far as the bound. */
function countDeep (value: object, most: number): number {
  let count = 0
  for (const member of Array.isArray(value) ? value as unknown[] : Object.values(value)) {
    if (member === undefined) continue
    count++
    if (typeof member === 'object' && member !== null) count += countDeep(member, most - count)
    if (count > most) break
  }
  return count
}

/** etcd bounds the request: the key, which stands in it up to three times, and what it compares count too. */
const REQUEST_BYTES = 2 * 1024

/**
 * Of a large object, in turns of the event loop: others are within the bounds.
 * @param before bytes of JSON of what it replaces: an object that is over the bounds already may become smaller
 * @throws StatusError 413 for what is too large for the store
 */
export async function storable (store: ResourceStore, object: ApiObject, json: UnversionedJson, before = 0): Promise<Storable> {
  await nextTurn()
  const grows = json.length > before
  const values = json.values()
  if (grows && values > MOST_VALUES) throw tooLarge(`the object would hold ${values} values with the owners of its fields, limit is ${MOST_VALUES}`)
  await nextTurn()
  const value = store.encode(object)
  if (grows && value.length > MOST_STORED_BYTES - REQUEST_BYTES) throw tooLarge(`the object would be stored in ${value.length} bytes with the owners of its fields, limit is ${MOST_STORED_BYTES - REQUEST_BYTES}`)
  await nextTurn()
  return { json, value }
}
