/** What a verb answers: a value that knows neither the format nor how it is sent. */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Message } from '../schemas/language/declare.js'
import type { Tabular } from '../schemas/table.js'
import type { Status } from '../schemas/status.js'
import type { Revision } from '../storage/backend.js'
import type { Entry } from '../storage/cache/entry.js'
import type { Subscriber } from '../storage/cache/subscribers.js'
import type { StorageError } from '../storage/errors.js'
import type { ListResult } from '../registry/verbs/list-request.js'
import type { ObjectWatch } from '../registry/verbs/watch.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { ServedRequest } from './request-context.js'

interface Warning {
  /** What the client is warned of, such as by admission; a verb that fails leaves them with the request. */
  readonly warnings: readonly string[]
}

/** A stored object. */
export interface EntryAnswer extends Warning {
  readonly kind: 'entry'
  readonly store: ResourceStore
  readonly entry: Entry
  readonly code: number
  /** The object is marked as deleted, and its finalizers or its grace period keep it. */
  readonly held?: true
}

/** An object that is not stored. */
export interface ObjectAnswer extends Warning {
  readonly kind: 'object'
  readonly message: Message<object>
  readonly object: object
  readonly code: number
  /** Whether a creation time that is not set is left out of text, rather than null. */
  readonly omitsUnsetTimes?: boolean
  /** What clients may ask for in its place, beside the object: a Table too, or its metadata alone. Default neither. */
  readonly forms?: TabularForm | 'metadata'
}

export interface TabularForm {
  readonly store: ResourceStore
  readonly tabular: Tabular
}

/** A list result; virtual lists have no revision. */
export type ObjectList = Omit<ListResult, 'revision'> & { readonly revision: Revision | undefined }

export interface ListAnswer extends Warning {
  readonly kind: 'list'
  readonly store: ResourceStore
  readonly list: ObjectList
}

export interface WatchAnswer extends Warning {
  readonly kind: 'watch'
  readonly store: ResourceStore
  readonly watch: ObjectWatch
  readonly seconds: number
  readonly bookmarks: boolean
  /** Whether a bookmark says that the state it begins with is complete. */
  readonly marked: boolean
  readonly subscriber: WatchSubscriber
}

/** Connects a feed to the stream that sends its events. Those before are not lost: the feed keeps its position. */
export class WatchSubscriber implements Subscriber {
  stream: { readonly wake: () => void, readonly fail: (error: unknown) => void } | undefined = undefined
  ended: StorageError | undefined = undefined
  selected: Subscriber['selected'] = undefined

  wake (): void { this.stream?.wake() }

  end (error: StorageError): void {
    this.ended = error
    this.stream?.fail(error)
  }
}

export interface StatusAnswer extends Warning {
  readonly kind: 'status'
  readonly status: Omit<Status, 'code'>
  readonly code: number
}

/** A plain value, such as of discovery: as JSON or YAML. */
export interface ValueAnswer {
  readonly kind: 'value'
  readonly value: object
}

/** Bytes that are there already. */
export interface DocumentAnswer {
  readonly kind: 'document'
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined where the headers say all, such as with 304. */
  readonly bytes: Buffer | undefined
  /** What is recorded of it, as JSON under own names. */
  readonly recorded?: Buffer
}

/** A page for browsers. */
export interface PageAnswer {
  readonly kind: 'page'
  readonly html: string
  /** What a browser may load for it. */
  readonly policy: string
}

/** What another server has answered, passed on as it comes. */
export interface PassedAnswer {
  readonly kind: 'passed'
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Readable | undefined
  /** It may be a page: headers with which this server protects its own are left out. */
  readonly isProxied: boolean
  /** Ends an unbounded body cleanly, at shutdown. */
  readonly ending?: AbortSignal | undefined
}

/** The connection belongs to another protocol from now on; no hook sees that. */
export interface UpgradeAnswer {
  readonly kind: 'upgrade'
  readonly connection: Socket
  readonly head: { readonly headers: readonly string[], readonly message?: string | undefined }
  /** The head has been sent, and the connection is free. */
  readonly begin: () => void
  /** The connection is gone. */
  readonly abandon?: () => void
}

export type RelayedAnswer = PassedAnswer | UpgradeAnswer

export type Answer = EntryAnswer | ObjectAnswer | ListAnswer | WatchAnswer | StatusAnswer
  | ValueAnswer | DocumentAnswer | PageAnswer | RelayedAnswer

/** The body of a request that is made in this process: plain data of its own, which is decoded in place. */
export class GivenBody {
  readonly value: unknown
  /** Bytes that it would have, nearly. */
  readonly length: number
  /** Its texts, for what is looked up in bytes. */
  readonly mayBeMisnamed: boolean

  constructor (value: unknown, length: number, mayBeMisnamed: boolean) {
    this.value = value
    this.length = length
    this.mayBeMisnamed = mayBeMisnamed
  }
}

/** What verbs read of a request: Fastify's has it, and so have those that are made in this process (`host/`). */
export interface VerbRequest extends Pick<ServedRequest, 'method' | 'url' | 'headers' | 'orch'> {
  /** The body: bytes that a client sent, or a GivenBody with the object that a host passed (`host/given-body.ts`). */
  readonly body: unknown
  /** The server itself asks, which may do everything. Default a user does. */
  readonly isOwn?: true
  readonly server: Pick<ServedRequest['server'], 'orchAuthorization' | 'orchResources' | 'orchSettings'>
}

export type Verb = (request: VerbRequest) => Answer | Promise<Answer>

export const entryAnswer = (
  { orch: { warnings } }: Pick<VerbRequest, 'orch'>, store: ResourceStore, entry: Entry, code = 200
): EntryAnswer => ({ kind: 'entry', store, entry, code, warnings })
