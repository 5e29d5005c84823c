/**
 * One version of one object in memory: its JSON, encoded once per change, and the values that selectors need.
 * Everything else (the parsed object, protobuf, table rows) is made on demand and kept while it is asked for.
 *
 * Its object is read as it is sent with `object`, to be changed with `copy`, as the server itself works on it with
 * `entries.read` of its store; in another version, the same of the entry that `conversion.forClients` returns.
 */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { LONG_FORM_BYTES } from '../../schemas/limits.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { FieldValues } from '../../schemas/selectors/fields.js'
import type { Steps } from '../../schemas/steps.js'
import type { Revision } from '../backend.js'
import { giveUp, withoutDropped, type Form, type Forms, type Kept } from './forms.js'
import { shared } from './shared.js'

const NOT_READ: FieldValues = []
/** Estimated size of a parsed object, relative to its JSON. */
const PARSED_FACTOR = 2

/** What an entry is read from when it is first needed. */
export interface Unread {
  /** Of the stored value. */
  readonly bytes: number
  readonly read: () => Entry
}

export class Entry {
  readonly key: string
  readonly revision: Revision
  #json: Buffer | undefined
  #labels: Readonly<Record<string, string>> | undefined
  #fields: FieldValues
  #unread: Unread | undefined = undefined
  /** The forms of its type while it is the present state of its object; another keeps nothing. */
  #forms: Forms | undefined = undefined
  #kept: Kept | undefined = undefined
  /** The object it was encoded from, while `keepDecoded` keeps it for `entries.read`. */
  decoded: ApiObject | undefined = undefined

  // eslint-disable-next-line @typescript-eslint/max-params -- made per write and watch event: no object for arguments
  constructor (
    key: string, revision: Revision, json: Buffer | undefined,
    labels: Readonly<Record<string, string>> | undefined, fields: FieldValues
  ) {
    this.key = key
    this.revision = revision
    this.#json = json
    this.#labels = shared(labels)
    this.#fields = fields
  }

  /**
   * An entry whose value is decoded when something first reads it: other processes make most of the changes, and
   * many types have no reader in this one. Benchmark: `npm run bench -- cores`, 'create, 64 writers, embedded,
   * processes beside one': four take a sixth more without it.
   */
  static unread (key: string, revision: Revision, unread: Unread): Entry {
    const entry = new Entry(key, revision, undefined, undefined, NOT_READ)
    entry.#unread = unread
    return entry
  }

  /** @throws StorageError 'Corrupt', 'Undecryptable' */
  #read ({ read }: Unread): void {
    const { json, labels, fields } = read()
    this.#json = json
    this.#labels = labels
    this.#fields = fields
    this.#unread = undefined
  }

  /** JSON with the resourceVersion, ending in a newline. Shared: never write to it. */
  get json (): Buffer {
    if (this.#unread !== undefined) this.#read(this.#unread)
    return this.#json as Buffer // it is read
  }

  get labels (): Readonly<Record<string, string>> | undefined {
    if (this.#unread !== undefined) this.#read(this.#unread)
    return this.#labels
  }

  /** Values for field selectors. */
  get fields (): FieldValues {
    if (this.#unread !== undefined) this.#read(this.#unread)
    return this.#fields
  }

  /** Approximate bytes of its JSON, which costs nothing to know. */
  get bytes (): number { return this.#json?.length ?? this.#unread?.bytes ?? 0 }

  get name (): string { return this.fields[0] ?? '' }
  get namespace (): string { return this.fields[1] ?? '' }

  /** The last state of the object, at the revision of its deletion. */
  at (revision: Revision): Entry {
    const { bytes } = this
    return this.#unread === undefined
      ? this.#at(revision)
      : Entry.unread(this.key, revision, { bytes, read: () => this.#at(revision) })
  }

  #at (revision: Revision): Entry {
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

  /** The parsed object, kept and shared: treat it as frozen. For what is read again and again; lists take copies. */
  get object (): ApiObject {
    return this.derive('object', () => shared(this.copy()), () => this.json.length * PARSED_FACTOR)
  }

  /** A parsed object of the caller's own, which it may change. */
  copy (): ApiObject {
    return parseExactly(this.json) as ApiObject // JSON that this server encoded
  }

  /** It is the present state of its object now. */
  enter (forms: Forms): void { this.#forms = forms }

  /** A newer state has replaced it, or the object is gone. */
  leave (forms: Forms): void {
    if (this.#forms !== forms) return // a server that continues from another one's state shares it
    giveUp(this.#kept)
    this.#forms = this.#kept = undefined
  }

  /** Frees what it has of forms that were dropped. */
  forgetDropped (): void { this.#kept = withoutDropped(this.#kept) }

  /**
   * A form of this entry: kept, or made and kept if there is room.
   * @param size in bytes; that of bytes by default
   */
  derive<T> (name: string, make: (entry: this) => T, size?: (made: T) => number): T {
    const form = this.#forms?.get(name)
    if (form === undefined) return this.#lately(name) as T | undefined ?? make(this)
    form.asked++
    const keptForm = this.#find(form)
    if (keptForm !== undefined) {
      form.hits++
      return keptForm.value as T // a form always has the same `make`
    }
    form.misses++
    const value = this.#lately(name) as T | undefined ?? make(this)
    const bytes = (size === undefined ? (value as Uint8Array).byteLength : size(value)) + OVERHEAD
    this.#kept = form.keep(value, bytes, this.#kept) ?? this.#kept
    return value
  }

  /** The same in steps, for a large object: `derive` finds what they make, even if there is no room to keep it. */
  * deriveInSteps<T> (name: string, steps: Steps<T>, size?: (made: T) => number): Steps<T> {
    const made = this.known(name)
    if (made !== undefined) return made as T // a form always has the same `make`
    const value = yield * steps
    lately.unshift({ entry: this, name, made: value })
    if (lately.length > MOST_LATELY) lately.pop()
    return this.derive(name, () => value, size)
  }

  #lately (name: string): unknown {
    if (this.json.length < LONG_FORM_BYTES) return undefined
    return lately.find(recent => recent.entry === this && recent.name === name)?.made
  }

  /** The form if it is there. */
  known (name: string): unknown {
    const form = this.#forms?.get(name)
    const keptForm = form === undefined ? undefined : this.#find(form)
    if (keptForm === undefined) return this.#lately(name)
    keptForm.form.asked++
    keptForm.form.hits++
    return keptForm.value
  }

  #find (form: Form): Kept | undefined {
    for (let kept = this.#kept; kept !== undefined; kept = kept.next) {
      if (kept.form === form && kept.time === form.time) return kept
    }
    return undefined
  }
}

/** Large forms that were made last, for those who have waited for them and can't wait again. */
const lately: Array<{ readonly entry: Entry, readonly name: string, readonly made: unknown }> = []
const MOST_LATELY = 4

/** Bytes of memory for a value that is kept, beside its own. */
const OVERHEAD = 200
