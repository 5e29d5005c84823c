/**
 * Objects whose defaults would make them too large. Writes are refused. A stored object comes to that when its
 * definition gets more defaults: then it is left without them, so that it can be listed, watched and deleted, and only
 * a GET of it is refused.
 */
import type { Gates } from '../schemas/gates.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { Representation } from '../schemas/resource.js'
import { lacksDefaults, applyDefaults } from '../schemas/language/defaults.js'
import { MAX_VALUES } from '../schemas/limits.js'
import { tooLarge } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'

const refusal = (apiVersion: string): Error =>
  tooLarge(`the object would hold more values with its defaults in ${apiVersion} than the limit of ${MAX_VALUES}`)

/** An object that is being deleted may change, so that its finalizers can be removed. @throws StatusError 413 */
export function refuseOutgrown ({ metadata }: ApiObject, apiVersion: string): void {
  if (metadata.deletionTimestamp === undefined) throw refusal(apiVersion)
}

/** @param old the replaced object, if there is one. @throws StatusError 413 */
export function fillDefaults (
  { message, apiVersion }: Representation, gates: Gates, object: ApiObject, old = object
): void {
  if (!applyDefaults(message, object, gates)) refuseOutgrown(old, apiVersion)
}

const outgrown = new WeakSet<Entry>()

/** Notes that the object of this entry lacks defaults, if so. */
export function marked (entry: Entry, object: ApiObject): Entry {
  if (lacksDefaults(object)) outgrown.add(entry)
  return entry
}

/** @throws StatusError 413 */
export function refuseToShow (entry: Entry, apiVersion: string): void {
  if (outgrown.has(entry)) throw refusal(apiVersion)
}
