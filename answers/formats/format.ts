/** What the formats of answers have in common. */
import type { Asker, TextForm } from '../../schemas/codec/text-thread.js'
import type { Message } from '../../schemas/language/declare.js'
import { clone } from '../../schemas/language/values.js'
import type { Status } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Items } from '../../storage/cache/leaf-bytes.js'
import type { RequestContext } from '../request-context.js'
import type { ObjectList } from '../answer.js'
import type { View } from '../view.js'
import type { Naming } from '../../schemas/naming.js'
import { PUBLIC_END_OF_INITIAL_EVENTS } from '../../schemas/public-names.js'

/** Writes objects and lists; events are functions of their own. */
export interface Format {
  readonly type: string
  /** A promise if a worker thread writes it. */
  readonly entry: (shown: ShownEntry, stored: Entry) => Buffer | Promise<Buffer>
  /** An object that is not stored. @param omits whether text leaves out unset times */
  readonly object: <T extends object>(naming: Naming, message: Message<T>, own: T, omits?: boolean) => Buffer
  readonly status: (status: Omit<Status, 'code'>) => Buffer
}

/** How stored objects are seen, and by whom. */
export interface ShownEntry {
  readonly view: View
  readonly asker: () => Asker
}

/** A list as it is stored. */
export interface ShownList extends ShownEntry { readonly list: ObjectList }

/** A format of any value, not of declared messages alone. */
export interface TextFormat extends Format {
  /** The form in which worker threads write large values; undefined if writing is quick. */
  readonly slow: TextForm['format'] | undefined
  readonly document: (value: object) => Buffer
  /** The members of `head`, then a list named `name`, as one document. */
  readonly listing: (head: object, name: string, items: Iterable<Part>) => Generator<Part>
  /** An item of `listing`. */
  readonly item: (value: object) => Uint8Array
}

export const isText = (format: Format): format is TextFormat => 'listing' in format

/** A part of a list: bytes, which are copied before the next part is made, or a worker thread's promise of them. */
export type Part = Uint8Array | Promise<Uint8Array>

/** What is sent of a list. */
export type Parts = Iterable<Part>

/** Between two steps of an item. */
export const NOTHING = new Uint8Array(0)

export const bytesOf = (text: string): Uint8Array => Buffer.from(text)

/** The items with the text before each. @returns whether there are any */
export function * preceded (items: Iterable<Part>, before: (first: boolean) => string): Generator<Part, boolean> {
  let first = true
  for (const item of items) {
    if (item !== NOTHING) {
      const text = before(first)
      if (text !== '') yield bytesOf(text)
      first = false
    }
    yield item
  }
  return !first
}

export function * mapped<T, Made> (all: readonly T[], make: (item: T) => Made): Generator<Made> {
  for (const item of all) yield make(item)
}

/** Events in pieces, which are copied before the next one is made. */
export type AddedRows = (entries: readonly Entry[]) => Iterable<readonly Uint8Array[]>

/** Writes the events of a watch. */
export interface Events {
  /** @param entry as stored */
  readonly event: (type: string, entry: Entry) => Buffer
  /** The initial state: ADDED events. */
  readonly added: Items | AddedRows
  /** @param isMark whether it says that the initial state is complete */
  readonly bookmark: (revision: number, isMark: boolean) => Buffer
  readonly failure: (status: Status) => Buffer
}

const endOf = ({ key }: Naming): Record<string, string> =>
  ({ [key('orch.io/initial-events-end')]: 'true', [PUBLIC_END_OF_INITIAL_EVENTS]: 'true' })

/** The object of a bookmark: kind, resourceVersion and the mark after the initial state. */
export const bookmarkObject = (
  { store: { representation }, naming }: Pick<View, 'store' | 'naming'>, revision: number, isMark: boolean
) => ({
  kind: representation.kind,
  apiVersion: naming.group(representation.apiVersion),
  metadata: {
    resourceVersion: String(revision),
    ...(isMark ? { annotations: endOf(naming) } : {})
  }
})

/** A copy under the client's names, with the members of its message. */
export const namedObject = <T>(naming: Naming, message: Message<T>, own: T): T =>
  naming.renames ? naming.value(message, clone(own)) : own

/** As JSON has it. */
export const shownObject = <T>(naming: Naming, message: Message | undefined, own: T): T =>
  naming.renames && message !== undefined ? naming.shown(message, clone(own)) : own

/** For whom a thread works. */
export const askerOf = ({ user, signal }: Pick<RequestContext, 'user' | 'signal'>): Asker =>
  ({ tenant: user?.username ?? '', signal })
