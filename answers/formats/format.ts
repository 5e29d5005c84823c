/** What the forms of answers have in common. */
import type { Asker, TextForm as ThreadForm } from '../../schemas/codec/text-thread.js'
import type { Status } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Items } from '../../storage/cache/leaf-bytes.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { ObjectAnswer, ObjectList } from '../answer.js'
import type { RequestContext } from '../request-context.js'
import type { Shape, StoredView } from '../stored-view.js'
import type { View } from '../view.js'

/** How an answer is written, whatever it is: chosen once, by what the client asks for (`choice.ts`). */
export interface Form {
  /** The media type, but of a watch. */
  readonly type: string
  /** What of large objects is made before they are written; undefined where writing itself takes steps. */
  readonly shape: Shape | undefined
  /** A stored object. A promise if it takes steps, or a worker thread writes it. */
  readonly entry: (shown: ShownEntry, stored: Entry) => Buffer | Promise<Buffer>
  readonly list: (shown: ShownList) => Joined | Parts
  /** Lists in its own order; undefined for theirs. */
  readonly ordered?: (store: ResourceStore, list: ObjectList) => Promise<ObjectList>
  readonly stream: Stream
  /** An object that is not stored. */
  readonly object: (view: View, own: Unstored) => Buffer
}

export type Unstored = Pick<ObjectAnswer, 'message' | 'object' | 'omitsUnsetTimes' | 'forms'>

/** Of objects as they are, which Statuses have too. */
export interface WholeForm extends Form { readonly status: (status: Omit<Status, 'code'>) => Buffer }

/** Of any value, not of declared messages alone. */
export interface TextForm extends WholeForm {
  /** The form in which worker threads write large values; undefined if writing is quick. */
  readonly slow: ThreadForm['format'] | undefined
  readonly document: (value: object) => Buffer
  /** The members of `head`, then a list named `name`, as one document. */
  readonly listing: (head: object, name: string, items: Iterable<Part>) => Generator<Part>
  /** An item of `listing`. */
  readonly item: (value: object) => Uint8Array
}

/** The view through which a client sees stored objects, and who the client is. */
export interface ShownEntry {
  readonly view: StoredView
  readonly asker: () => Asker
}

/** A list as it is stored. */
export interface ShownList extends ShownEntry { readonly list: ObjectList }

/** A list of known length: what it is joined of. */
export interface Joined {
  readonly items: Items
  /** @param size bytes of all items, without the last separator */
  readonly ends: (size: number) => Ends
}

export interface Ends { readonly head: Buffer, readonly tail: Buffer }

/** A part of a list: bytes, which are copied before the next part is made, or a worker thread's promise of them. */
export type Part = Uint8Array | Promise<Uint8Array>

/** A list whose length is known when it is made. */
export type Parts = Iterable<Part>

export const isJoined = (list: Joined | Parts): list is Joined => 'ends' in list

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

/** How a watch is written, which is JSON or protobuf. */
export interface Stream {
  readonly type: string
  /** Watches of a view with the same id are written alike. */
  readonly id: string
  /** What of large objects is made before their events are written; undefined for nothing. */
  readonly shape: Shape | undefined
  readonly events: (view: StoredView) => Events
}

/** The initial state in pieces, which are copied before the next one is made. */
export interface AddedRows {
  readonly write: (entries: readonly Entry[]) => Iterable<readonly Uint8Array[]>
  /** Bytes of an event, nearly. */
  readonly sizeOf: (entry: Entry) => number
  readonly isSlow: (entry: Entry) => boolean
  /** What takes the place of `without` in the first event of each watch. */
  readonly columns: { readonly without: string, readonly bytes: Buffer }
}

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

/** The client on whose behalf a worker thread writes. */
export const askerOf = ({ user, signal }: Pick<RequestContext, 'user' | 'signal'>): Asker =>
  ({ tenant: user?.username ?? '', signal })
