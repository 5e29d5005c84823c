/** What an operation needs to know of who asks and how; the same for every verb that writes. */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { timestamp } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { invalid } from '../../schemas/status.js'
import type { FieldError } from '../../schemas/status.js'
import type { Span } from '../trace.js'
import type { ResourceStore } from '../resource-store.js'

export interface WriteContext {
  readonly user: UserInfo | undefined
  /** Of the request that asks for it. Default there is none: the server does it by itself. */
  readonly trace?: Span
  /** Every stage runs but the write. */
  readonly dryRun: boolean
  readonly warn: (text: string) => void
  /** Adds to the audit event. Default nowhere. */
  readonly annotate?: (key: string, value: string) => void
  /** The same with what holds a part of an object: for events that have what was sent. Default nowhere. */
  readonly annotateObject?: (key: string, value: string) => void
  /** Told of milliseconds that a webhook took; those that were asked `together` took the most of theirs. Default nobody is. */
  readonly waited?: (milliseconds: number, together: boolean) => void
  /** What the client asked for beside the object. Default nothing. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Who the change is made for, by name; may be empty. Default the server itself. */
  readonly fieldManager?: string
  /** Refuses those who may change but not create, where what is to be changed has to be made. Throws a StatusError 403. Default nobody. */
  readonly mayCreate?: () => Promise<void>
  /** Bytes of the body it came with, 0 or absent where there is none. */
  readonly size?: number
  /** What it makes may be far larger than the body: YAML has aliases, a JSON patch copies. */
  readonly mayGrow?: boolean
  readonly caller: Caller
}

/** Who waits for the outcome. Its signal is most often made when somebody asks for it, so pass on who has it. */
export interface Caller {
  /** Aborted when nobody waits any more; a write already sent is still finished. */
  readonly signal: AbortSignal
}

export interface Target { readonly namespace: string, readonly name: string, readonly subresource?: string }

/** Seconds precision, as the wire has it. @param after seconds from now */
export const now = (after = 0): string => timestamp(Date.now() + after * 1000)

/** @throws StatusError 422 with a cause per finding, when there are any. */
export function refuse (store: ResourceStore, object: ApiObject, errors: readonly FieldError[]): void {
  const { group, kind } = store.representation
  if (errors.length > 0) throw invalid({ group, kind }, object.metadata.name ?? '', errors)
}

/** Of writes that the server does by itself. */
export const serverContext = (signal: AbortSignal): WriteContext => ({ user: undefined, dryRun: false, warn: () => {}, caller: { signal } })
