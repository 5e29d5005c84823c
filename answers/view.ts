/**
 * How a client sees what is not stored, under its names: objects, Statuses, documents, sentences and media types. What
 * is stored has a view of its own for each type (`stored-view.ts`); both are all that knows of names here.
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

  constructor (naming: Naming) { this.naming = naming }

  /** Compact JSON. @param omits whether creation times that are not set are left out */
  json<T extends object> (message: Message<T>, own: T, omits = false): string {
    return toJson(this.naming.message(message), this.#named(message, own), undefined, omits)
  }

  /** In its envelope. */
  protobuf<T extends object> (message: Message<T>, own: T): Buffer {
    return encodeProtobuf(message, this.#named(message, own))
  }

  /** A copy with the members of its message. */
  #named<T> (message: Message<T>, own: T): T {
    return this.naming.renames ? this.naming.value(message, clone(own)) : own
  }

  /** A copy as JSON has it. @param message undefined where nothing of it has names */
  shown<T> (message: Message | undefined, own: T): T {
    return this.naming.renames && message !== undefined ? this.naming.shown(message, clone(own)) : own
  }

  status<T extends Omit<Status, 'code'>> (own: T): T { return this.naming.status(own) }

  /** A plain value, such as of discovery. */
  document (own: object): object { return this.naming.document(own) }

  /** A sentence. */
  words (own: string): string { return this.naming.words(own) }

  /** A group, or `GROUP/VERSION`. */
  group (own: string): string { return this.naming.group(own) }

  mediaType (own: string): string { return this.naming.mediaType(own) }

  /** What columns show of keys, beside the object. */
  get key (): (own: string) => string { return this.naming.key }
}

const views = oncePer((naming: Naming) => new View(naming))

/** @param context of a request; undefined before request info */
export const viewOf = (context: { readonly naming: Naming } | undefined): View => views(context?.naming ?? OWN_NAMES)

/** How this server sees it, and records it. */
export const OWN_VIEW = views(OWN_NAMES)
