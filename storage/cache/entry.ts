/**
 * One version of one object in memory: its JSON, encoded once per change, and the values that selectors need.
 * Everything else (the parsed object, protobuf, table rows) is derived on demand and kept while it is used.
 *
 * Its object is read as it is sent with `object`, to be changed with `copy`, as the server itself works on it with
 * `readStored` of its store; in another version, the same of the entry that `toVersion` returns.
 */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import type { ApiObject } from '../../schemas/resource.js'
import type { FieldValues } from '../../schemas/selectors/fields.js'
import type { Revision } from '../backend.js'
import { now, grow, type CachedRepresentations } from './cached-representations.js'
import { shared } from './shared.js'

/** Estimated size of a parsed object, relative to its JSON. */
const PARSED_FACTOR = 2

class Derived implements CachedRepresentations {
  used = now()
  bytes = 0
  readonly values = new Map<string, unknown>()
  readonly #owner: { derived: Derived | undefined }

  constructor (owner: { derived: Derived | undefined }) { this.#owner = owner }

  drop (): void { this.#owner.derived = undefined }
}

export class Entry {
  readonly key: string
  readonly revision: Revision
  /** JSON with the resourceVersion, ending in a newline. Shared: never write to it. */
  readonly json: Buffer
  readonly labels: Readonly<Record<string, string>> | undefined
  /** Values for field selectors. */
  readonly fields: FieldValues
  /** Derived values of this entry. */
  derived: Derived | undefined = undefined
  /** The object it was encoded from, while `keepDecoded` keeps it for `readStored`. */
  decoded: ApiObject | undefined = undefined

  // eslint-disable-next-line @typescript-eslint/max-params -- made per write and watch event: no object for arguments
  constructor (
    key: string, revision: Revision, json: Buffer, labels: Readonly<Record<string, string>> | undefined,
    fields: FieldValues
  ) {
    this.key = key
    this.revision = revision
    this.json = json
    this.labels = shared(labels)
    this.fields = fields
  }

  get name (): string { return this.fields[0] ?? '' }
  get namespace (): string { return this.fields[1] ?? '' }

  /** The last state of the object, at the revision of its deletion. */
  at (revision: Revision): Entry {
    const before = `"resourceVersion":"${this.revision}"`
    // The first match is in the metadata, which comes first, as quotes in values are escaped.
    const start = this.json.indexOf(before)
    if (start === -1) throw new TypeError('the JSON of an entry contains no resourceVersion')
    const replacedLength = Buffer.byteLength(before)
    const text = `"resourceVersion":"${revision}"`
    const json = Buffer.allocUnsafeSlow(this.json.length - replacedLength + text.length)
    this.json.copy(json, 0, 0, start)
    json.write(text, start, 'latin1')
    this.json.copy(json, start + text.length, start + replacedLength)
    return new Entry(this.key, revision, json, this.labels, this.fields)
  }

  /** The parsed object, cached while it is used and shared: treat it as frozen. */
  get object (): ApiObject { return this.derive('object', () => shared(this.copy())) }

  /** A parsed object of the caller's own, which it may change. */
  copy (): ApiObject {
    return parseExactly(this.json) as ApiObject // JSON that this server encoded
  }

  /** A value derived from this version, computed at most once per `representation` while it is used. */
  derive<T> (representation: string, make: (entry: Entry) => T): T {
    const known = this.derived?.values.get(representation)
    if (this.derived !== undefined && known !== undefined) {
      this.derived.used = now()
      return known as T // a representation always has the same `make`
    }
    const made = make(this)
    const derived = this.derived ?? new Derived(this)
    if (grow(derived, made instanceof Uint8Array ? made.byteLength : this.json.length * PARSED_FACTOR)) {
      derived.used = now()
      derived.values.set(representation, made)
      this.derived = derived
    }
    return made
  }
}
