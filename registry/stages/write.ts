/**
 * A write on its way through its stages. Admission sees the part of it that `AdmissionRequest` names.
 * A class because of its getters: V8 gives each object literal with a getter its own hidden class, which retains the
 * whole request until the next full collection.
 */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { clone } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import type { WriteResult } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { AdmissionOperation, AdmissionReader, AdmissionRequest, Precondition, TypedRequest } from '../admission.js'
import type { Allocated } from '../allocation.js'
import { isDryRun, type ObjectWrite, type Target, type WriteContext } from '../write-context.js'
import type { ResourceStore } from '../resource-store.js'
import type { Span } from '../trace.js'

const NO_OPTIONS = Object.freeze({})
const NO_PRECONDITIONS: readonly Precondition[] = []

/** What a stage has done that must not outlast the attempt. */
export interface Undo { readonly of: { readonly name: string }, readonly revert: () => Promise<void> }

export class Write implements TypedRequest<ApiObject>, ObjectWrite {
  readonly store: ResourceStore
  readonly target: Target
  readonly context: WriteContext
  readonly operation: AdmissionOperation
  kind: string
  requested: AdmissionRequest['requested']
  /** The current span. */
  trace: Span | undefined
  /** No further stage is to run. */
  isDone = false
  /** What the write depends on, as the last run of validating admission found it. */
  preconditions: readonly Precondition[] = NO_PRECONDITIONS
  allocated: Allocated | undefined = undefined
  /** Taken back, the last first, if the write fails or is repeated from the stage that did it, or from before. */
  readonly undo: Undo[] = []
  /** Of the attempt's last transaction; undefined as long as it has sent nothing to the store. */
  outcome: WriteResult | undefined = undefined
  /** A transaction succeeded, whatever the attempts after that come to. */
  isStored = false
  /** What the client is answered with. */
  result: Entry | undefined = undefined

  constructor ({ store, target, context }: ObjectWrite, operation: AdmissionOperation) {
    this.store = store
    this.target = target
    this.context = context
    this.operation = operation
    this.kind = store.stored.kind
    this.requested = store.representation
    this.trace = context.caller.trace
  }

  /** What is written: none by a deletion. */
  get object (): ApiObject | undefined { return undefined }
  /** What was there before. */
  get oldObject (): ApiObject | undefined { return undefined }
  /** The write as plugins know it, who access members of any object by name. */
  get admitted (): AdmissionRequest { return this as TypedRequest<ApiObject> as AdmissionRequest }
  get answer (): Entry { return present(this.result, 'result') }
  /** Approximate bytes of the largest object that the write has to do with. The driver yields by it. */
  get size (): number { return this.context.size ?? 0 }

  get group (): string { return this.store.stored.group }
  get version (): string { return this.store.stored.version }
  get resource (): string { return this.store.stored.plural }
  get subresource (): string { return this.target.subresource ?? '' }
  get namespace (): string { return this.target.namespace }
  get name (): string { return this.target.name }
  get verb (): string | undefined { return this.context.verb }
  get user (): UserInfo | undefined { return this.context.caller.user }
  get dryRun (): boolean { return isDryRun(this.context) }
  get options (): Readonly<Record<string, unknown>> { return this.context.options ?? NO_OPTIONS }
  get reader (): AdmissionReader { return this.store.reader }
  get signal (): AbortSignal { return this.context.caller.signal }

  get warn (): AdmissionRequest['warn'] {
    const { caller } = this.context
    return text => { caller.warn?.(text) }
  }

  get annotate (): AdmissionRequest['annotate'] {
    const { caller } = this.context
    return (key, value, level) => { caller.annotate?.(key, value, level) }
  }

  get waited (): AdmissionRequest['waited'] {
    const { caller } = this.context
    return (milliseconds, together) => { caller.waitedFor?.(milliseconds, together) }
  }

  get convert (): AdmissionRequest['convert'] {
    const { type: { representations, plural } } = this.store
    return (object, apiVersion) => {
      const desired = representations.find(representation => representation.apiVersion === apiVersion)
      if (desired === undefined) throw new TypeError(`${plural} have no version ${apiVersion}`)
      const copy = clone(object)
      const typed = copy as unknown as ApiObject // an object of the type
      const converted: object = desired.conversion?.fromStored(typed) ?? this.store.conversion.asStored(typed)
      return converted as Record<string, unknown>
    }
  }
}

/** Of an object that is not one of the store's: of an operation, or the options of a connection. */
export class OtherWrite extends Write {
  readonly #object: ApiObject

  constructor (write: ObjectWrite, operation: AdmissionOperation, object: ApiObject, kind?: string) {
    super(write, operation)
    this.#object = object
    if (kind !== undefined) this.kind = kind
  }

  override get object (): ApiObject { return this.#object }
}

/** Decodes the body of a request. */
export type Sent<T> = () => WaitingSteps<T>

/** What a write is made with: given by the server, or sent by a client and decoded in the first stage. */
export class Given<T extends object> {
  readonly sent: Sent<T> | undefined
  #value: T | undefined

  constructor (given: T | Sent<T>) {
    if (typeof given === 'function') this.sent = given as Sent<T>
    else this.#value = given
  }

  get value (): T { return present(this.#value, 'body') }

  * decode (): WaitingSteps<void> {
    if (this.sent !== undefined) this.#value = yield * this.sent()
  }
}

/** What an earlier stage has left. @throws TypeError if none has */
export function present<T> (value: T | undefined, name: string): T {
  if (value === undefined) throw new TypeError(`a stage reads the ${name} of a write before another has made it`)
  return value
}
