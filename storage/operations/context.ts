/** What an operation needs to know of who asks and how; the same for every verb that writes. */
import type { UserInfo } from '../../schemas/auth/user.js'
import { clone, timestamp } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { invalid } from '../../schemas/status.js'
import type { FieldError } from '../../schemas/status.js'
import type { Span } from '../../schemas/trace.js'
import type { AdmissionRequest } from '../admission/contract.js'
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
  /** Aborted when nobody waits for the outcome any more; a write already sent is still finished. */
  readonly signal: AbortSignal
}

export interface Target { readonly namespace: string, readonly name: string, readonly subresource?: string }

type Creation = Partial<Pick<AdmissionRequest, 'restsOn' | 'claim'>>

export function admissionRequest (store: ResourceStore, context: WriteContext, target: Target, operation: AdmissionRequest['operation'], object: ApiObject | undefined, oldObject: ApiObject | undefined, { restsOn, claim }: Creation = {}): AdmissionRequest {
  const { group, version, plural, kind } = store.stored
  return {
    operation,
    group,
    version,
    resource: plural,
    kind,
    subresource: target.subresource ?? '',
    namespace: target.namespace,
    name: target.name,
    user: context.user,
    dryRun: context.dryRun,
    trace: context.trace,
    options: context.options ?? NO_OPTIONS,
    requested: store.shown,
    reader: store.reader,
    convert: (object, apiVersion) => converted(store, object, apiVersion),
    get signal () { return context.signal },
    annotate: (key, value, level = 'Metadata') => { (level === 'Metadata' ? context.annotate : context.annotateObject)?.(key, value) },
    object: object as Record<string, unknown> | undefined, // admission reads and writes members by name
    oldObject: oldObject as Record<string, unknown> | undefined,
    warn: context.warn,
    restsOn,
    claim,
    waited: context.waited
  }
}

const NO_OPTIONS = Object.freeze({})

/** @throws TypeError for a version the type is not served in */
function converted ({ type }: ResourceStore, object: Record<string, unknown>, apiVersion: string): Record<string, unknown> {
  const wanted = type.representations.find(one => one.apiVersion === apiVersion)
  if (wanted === undefined) throw new TypeError(`${type.plural} have no version ${apiVersion}`)
  const copy = clone(object)
  return (wanted.conversion?.fromStored(copy as unknown as ApiObject) ?? copy) as Record<string, unknown> // an object of the type
}

/** Seconds precision, as the wire has it. @param after seconds from now */
export const now = (after = 0): string => timestamp(Date.now() + after * 1000)

/** @throws StatusError 422 with a cause per finding, when there are any. */
export function refuse (store: ResourceStore, object: ApiObject, errors: readonly FieldError[]): void {
  const { group, kind } = store.shown
  if (errors.length > 0) throw invalid({ group, kind }, object.metadata.name ?? '', errors)
}
