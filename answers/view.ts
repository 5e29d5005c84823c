/**
 * How a client sees what is not stored, under its names: objects, Statuses, documents, sentences and media types; and
 * how what it sends is read. What is stored has a view of its own for each type (`stored-view.ts`). Beside both
 * only `routes/misnamed.ts` knows of names in `answers/` and `routes/`; whoever is given a view asks it.
 */
import { toJson } from '../schemas/codec/json/encode.js'
import { encodeProtobuf } from '../schemas/codec/protobuf/encode.js'
import type { Message } from '../schemas/language/declare.js'
import { clone } from '../schemas/language/values.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'
import { oncePer } from '../schemas/once-per.js'
import type { Status } from '../schemas/status.js'

export class View {
  protected readonly naming: Naming
  /** A group, or `GROUP/VERSION`: as the client has it, or the own one of that. So are paths and keys. */
  readonly group: (name: string) => string
  readonly path: (path: string) => string
  /** What columns show of keys, beside the object. */
  readonly key: (key: string) => string
  /** False where what is shown is what is stored. */
  readonly renames: boolean
  /** Of OpenAPI documents. */
  readonly openApi: Naming['openApi']
  /** What a client may not write, as it would mean something else by it. Undefined: nothing. */
  readonly findings: Naming['findings']

  constructor (naming: Naming) {
    this.naming = naming
    this.group = naming.group
    this.path = naming.path
    this.key = naming.key
    this.renames = naming.renames
    this.openApi = naming.openApi
    this.findings = naming.findings
  }

  /** By whose members JSON is read and written. */
  message<T> (own: Message<T>): Message<T> { return this.naming.message(own) }

  /** What has been read, under own names, in place. Its own inverse. */
  value<T> (message: Message, object: T): T { return this.naming.value(message, object) }

  /** As JSON has it; takes over the given object. */
  shown<T> (message: Message, own: T): T { return this.naming.shown(message, own) }

  /** Compact JSON. @param omits whether creation times that are not set are left out */
  json<T extends object> (message: Message<T>, own: T, omits = false): string {
    return toJson(this.message(message), this.#named(message, own), undefined, omits)
  }

  /** In its envelope. */
  protobuf<T extends object> (message: Message<T>, own: T): Buffer {
    return encodeProtobuf(message, this.#named(message, own))
  }

  /** A copy with the members of its message. */
  #named<T> (message: Message<T>, own: T): T {
    return this.renames ? this.value(message, clone(own)) : own
  }

  /** A copy as JSON has it. @param message undefined where nothing of it has names */
  shownCopy<T> (message: Message | undefined, own: T): T {
    return this.renames && message !== undefined ? this.shown(message, clone(own)) : own
  }

  status<T extends Omit<Status, 'code'>> (own: T): T { return this.naming.status(own) }

  /** A plain value, such as of discovery. */
  document (own: object): object { return this.naming.document(own) }

  /** A sentence. */
  words (own: string): string { return this.naming.words(own) }

  mediaType (own: string): string { return this.naming.mediaType(own) }
}

const views = oncePer((naming: Naming) => new View(naming))

/** @param context of a request; undefined before request info */
export const viewOf = (context: { readonly naming: Naming } | undefined): View => views(context?.naming ?? OWN_NAMES)

/** How this server sees it, and records it. */
export const OWN_VIEW = views(OWN_NAMES)
