/**
 * One version of one object as the server keeps it: its wire JSON, made once when the object changed,
 * and beside it only what selectors need. Whatever else is asked of it (the parsed object, protobuf,
 * a table row's parts) is derived when first wanted and kept as long as this version lives.
 */
import type { ApiObject } from '../../schemas/index.js'
import type { Revision } from '../backend.js'

const NEWLINE = 0x0a

/**
 * The text and a newline in memory of its own. Node's shared pool would keep four times as much alive: each of its
 * slabs holds short-lived bytes of the same request beside ours.
 */
function ownBytes (text: string): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafeSlow(length + 1)
  bytes.write(text, 0, length)
  bytes[length] = NEWLINE
  return bytes
}

export class Entry {
  readonly key: string
  readonly revision: Revision
  /** Wire JSON with the resourceVersion in it, ending in a newline. Shared: never written to. */
  readonly json: Buffer
  readonly labels: Readonly<Record<string, string>> | undefined
  #object: ApiObject | undefined
  #derived: Map<string, unknown> | undefined

  constructor (key: string, revision: Revision, json: string, labels: Record<string, string> | undefined) {
    this.key = key
    this.revision = revision
    this.json = ownBytes(json)
    this.labels = labels
  }

  /** The object, parsed once and shared: treat it as frozen. */
  get object (): ApiObject {
    this.#object ??= this.copy()
    return this.#object
  }

  /** A copy of its own for whoever means to change it. */
  copy (): ApiObject {
    return JSON.parse(this.json.toString()) as ApiObject // our own bytes, in our own shape
  }

  /** A value computed from this version, made at most once per `form`. */
  derive<T> (form: string, make: (entry: Entry) => T): T {
    this.#derived ??= new Map()
    if (!this.#derived.has(form)) this.#derived.set(form, make(this))
    return this.#derived.get(form) as T // each form has one maker, and so one type
  }
}
