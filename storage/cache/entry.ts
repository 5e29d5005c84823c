/**
 * One version of one object as the server keeps it: its wire JSON, made once when the object changed,
 * and beside it only what selectors need. Whatever else is asked of it (the parsed object, protobuf,
 * a table row's parts) is derived when first wanted and kept while it is used.
 */
import { parseExactly } from '../../schemas/index.js'
import type { ApiObject, FieldValues } from '../../schemas/index.js'
import type { Revision } from '../backend.js'
import { grow, now } from './forms.js'
import type { Forms } from './forms.js'

/** A parsed object takes about so many times its JSON. */
const PARSED = 2

class Derived implements Forms {
  used = now()
  bytes = 0
  readonly values = new Map<string, unknown>()
  readonly #owner: { forms: Derived | undefined }

  constructor (owner: { forms: Derived | undefined }) { this.#owner = owner }

  drop (): void { this.#owner.forms = undefined }
}

const OBJECT = 'object'

export class Entry {
  readonly key: string
  readonly revision: Revision
  /** Wire JSON with the resourceVersion in it, ending in a newline. Shared: never written to. */
  readonly json: Buffer
  readonly labels: Readonly<Record<string, string>> | undefined
  /** What field selectors look at. */
  readonly fields: FieldValues
  /** Derived so far; the entry's own. */
  forms: Derived | undefined = undefined
  /** The object it was made of, for as long as `holdWritten` keeps it. Shared: treat it as frozen. */
  written: ApiObject | undefined = undefined

  constructor (key: string, revision: Revision, json: Buffer, labels: Readonly<Record<string, string>> | undefined, fields: FieldValues) {
    this.key = key
    this.revision = revision
    this.json = json
    this.labels = labels
    this.fields = fields
  }

  get name (): string { return this.fields[0] ?? '' }
  get namespace (): string { return this.fields[1] ?? '' }

  /** The same object as the last thing known of it, at the revision at which it was deleted. */
  at (revision: Revision): Entry {
    const before = `"resourceVersion":"${this.revision}"`
    // In the metadata, which comes first: what stands before it has no quotes that are not escaped.
    const start = this.json.indexOf(before)
    if (start === -1) throw new TypeError('an entry says its revision')
    const room = Buffer.byteLength(before)
    const text = `"resourceVersion":"${revision}"`
    const json = Buffer.allocUnsafeSlow(this.json.length - room + text.length)
    this.json.copy(json, 0, 0, start)
    json.write(text, start, 'latin1')
    this.json.copy(json, start + text.length, start + room)
    return new Entry(this.key, revision, json, this.labels, this.fields)
  }

  /** The object, parsed once while it is used, and shared: treat it as frozen. */
  get object (): ApiObject { return this.derive(OBJECT, () => this.copy()) }

  /** The object for one look: parsed anew where it is not there already, and not kept. Treat it as frozen. */
  read (): ApiObject {
    return (this.forms?.values.get(OBJECT) ?? this.copy()) as ApiObject // only `object` sets it
  }

  /** A copy of its own for whoever means to change it. */
  copy (): ApiObject {
    return parseExactly(this.json) as ApiObject // our own bytes, in our own shape
  }

  /** A value computed from this version, made at most once per `form` while it is used. */
  derive<T> (form: string, make: (entry: Entry) => T): T {
    const known = this.forms?.values.get(form)
    if (this.forms !== undefined && known !== undefined) {
      this.forms.used = now()
      return known as T // each form has one maker, and so one type
    }
    const made = make(this)
    const forms = this.forms ?? new Derived(this)
    if (grow(forms, made instanceof Uint8Array ? made.byteLength : this.json.length * PARSED)) {
      forms.used = now()
      forms.values.set(form, made)
      this.forms = forms
    }
    return made
  }
}
