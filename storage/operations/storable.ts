/** An object as it goes into the store, within the bounds that hold on every back end. */
import type { ApiObject } from '../../schemas/index.js'
import { MOST_STORED_BYTES, MOST_VALUES } from '../../schemas/limits.js'
import { tooLarge } from '../../schemas/status.js'
import type { UnversionedJson } from '../cache/unversioned.js'
import type { ResourceStore } from '../resource-store.js'
import { isLarge, nextTurn } from '../turns.js'

export interface Storable {
  /** What readers get, at whatever version it has. */
  readonly json: UnversionedJson
  readonly value: Uint8Array
}

/**
 * For objects that defaults have made far larger than they were sent, before anything else is done with them.
 * @throws StatusError 413
 */
export function refuseHeavy (object: ApiObject): void {
  if (countDeep(object, MOST_VALUES) > MOST_VALUES) throw tooLarge(`the object would hold more values with its defaults than the limit of ${MOST_VALUES}`)
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

/** @throws StatusError 413 for what is too large for the store. Takes turns of the event loop where it is large */
export async function storable (store: ResourceStore, object: ApiObject, json: UnversionedJson): Promise<Storable> {
  if (!isLarge(json.length)) return { json, value: store.encode(object) }
  await nextTurn()
  const values = json.values()
  if (values > MOST_VALUES) throw tooLarge(`the object would hold ${values} values with the owners of its fields, limit is ${MOST_VALUES}`)
  await nextTurn()
  const value = store.encode(object)
  if (value.length > MOST_STORED_BYTES - REQUEST_BYTES) throw tooLarge(`the object would be stored in ${value.length} bytes with the owners of its fields, limit is ${MOST_STORED_BYTES - REQUEST_BYTES}`)
  await nextTurn()
  return { json, value }
}
