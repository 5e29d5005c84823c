/** Between the stored version of a type and the one in which the clients of a store send and read its objects. */
import type { Gates } from '../schemas/gates.js'
import type { ApiObject } from '../schemas/meta/api-object.js'
import type { Representation } from '../schemas/resource.js'
import { finish, type Steps } from '../schemas/steps.js'
import { ownBytes } from '../storage/bytes.js'
import { Entry } from '../storage/cache/entry.js'
import type { Entries } from './entries.js'
import type { LaterDefaults } from './later-defaults.js'
import { fillDefaults, marked } from './outgrown.js'

export interface Converted {
  readonly stored: Representation
  /** The one that clients use. */
  readonly representation: Representation
  readonly entries: Entries
  readonly defaults: LaterDefaults
  readonly gates: Gates
}

export class Conversion {
  readonly #of: Converted

  constructor (of: Converted) { this.#of = of }

  /** An entry in the clients' version, which is kept beside it. */
  forClients (entry: Entry): Entry {
    const { conversion, apiVersion } = this.#of.representation
    if (conversion === undefined) return entry
    return entry.derive(apiVersion, () => finish(this.onceForClients(entry)), ({ json }) => json.length)
  }

  /** The same, made for a single use and not kept. */
  * onceForClients (entry: Entry): Steps<Entry> {
    const { entries, representation: { message, conversion } } = this.#of
    if (conversion === undefined) return entry
    const stored = entries.read(entry)
    yield
    const object = conversion.fromStored(stored)
    yield
    const { key, revision, labels, fields } = entry
    const json = entries.json(message, object, revision === 0 ? undefined : String(revision))
    return marked(new Entry(key, revision, ownBytes(json), labels, fields), object)
  }

  /**
   * Converts a client's object, with the defaults of its version, to the stored version. In place if no conversion is
   * needed.
   * @throws StatusError 413 if its defaults make it too large
   */
  * fromSent (object: ApiObject): Steps<ApiObject> {
    const { stored, representation, defaults, gates } = this.#of
    fillDefaults(representation, gates, object)
    const { conversion } = representation
    if (conversion?.unpruned !== undefined) return conversion.unpruned(object)
    let converted = object
    if (conversion !== undefined) {
      yield
      converted = conversion.toStored(object)
      fillDefaults(stored, gates, converted)
    }
    defaults.fill(converted)
    return converted
  }

  /** Whose fields and defaults an object has while it is written, until `asStored`. */
  get written (): Representation {
    const { stored, representation } = this.#of
    return representation.conversion?.unpruned === undefined ? stored : representation
  }

  /** What of a written object can be stored, without defaults of the stored version, which nobody has sent. */
  storable (object: ApiObject): ApiObject {
    const { stored, representation } = this.#of
    return this.written === stored ? object : representation.conversion?.toStored(object) ?? object
  }

  /** A written object as it is stored: with the fields and defaults of the stored version. @throws StatusError 413 */
  asStored (object: ApiObject): ApiObject {
    const storable = this.storable(object)
    if (storable !== object) fillDefaults(this.#of.stored, this.#of.gates, storable, object)
    return storable
  }
}
