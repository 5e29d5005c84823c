/** An operation as admission is asked about it. */
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { clone } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import type { Span } from '../trace.js'
import type { AdmissionReader, AdmissionRequest, Operation } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'
import type { Caller, Target, WriteContext } from './context.js'

/** What some operations say beside, or otherwise than their resource does. */
type Particulars = Partial<Pick<AdmissionRequest, 'precondition' | 'claim' | 'kind' | 'requested'>>

const NO_OPTIONS = Object.freeze({})

/**
 * A class for the sake of its getter: V8 gives each object literal with one a hidden class of its own, which keeps the whole request
 * until the next collection of the old.
 */
class Request implements AdmissionRequest {
  readonly operation: Operation
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly subresource: string
  readonly namespace: string
  name: string
  readonly user: UserInfo | undefined
  readonly dryRun: boolean
  trace: Span | undefined
  readonly options: Readonly<Record<string, unknown>>
  readonly requested: AdmissionRequest['requested']
  readonly reader: AdmissionReader
  readonly convert: AdmissionRequest['convert']
  readonly annotate: AdmissionRequest['annotate']
  readonly object: Record<string, unknown> | undefined
  readonly oldObject: Record<string, unknown> | undefined
  readonly warn: AdmissionRequest['warn']
  readonly precondition: AdmissionRequest['precondition']
  readonly claim: AdmissionRequest['claim']
  readonly waited: AdmissionRequest['waited']
  readonly #caller: Caller

  constructor (store: ResourceStore, context: WriteContext, target: Target, operation: Operation, object: ApiObject | undefined, oldObject: ApiObject | undefined, particulars: Particulars) {
    const { group, version, plural, kind } = store.stored
    this.operation = operation
    this.group = group
    this.version = version
    this.resource = plural
    this.kind = particulars.kind ?? kind
    this.subresource = target.subresource ?? ''
    this.namespace = target.namespace
    this.name = target.name
    this.user = context.user
    this.dryRun = context.dryRun
    this.trace = context.trace
    this.options = context.options ?? NO_OPTIONS
    this.requested = particulars.requested ?? store.representation
    this.reader = store.reader
    this.convert = (object, apiVersion) => converted(store, object, apiVersion)
    this.annotate = (key, value, level = 'Metadata') => { (level === 'Metadata' ? context.annotate : context.annotateObject)?.(key, value) }
    // Admission reads and writes members by name.
    this.object = object as Record<string, unknown> | undefined
    this.oldObject = oldObject as Record<string, unknown> | undefined
    this.warn = context.warn
    this.precondition = particulars.precondition
    this.claim = particulars.claim
    this.waited = context.waited
    this.#caller = context.caller
  }

  get signal (): AbortSignal { return this.#caller.signal }
}

/** Its name may be set later, where it is generated. */
export function admissionRequest (store: ResourceStore, context: WriteContext, target: Target, operation: Operation, object: ApiObject | undefined, oldObject: ApiObject | undefined, particulars: Particulars = {}): AdmissionRequest & { name: string } {
  return new Request(store, context, target, operation, object, oldObject, particulars)
}

/** @throws TypeError for a version the type is not served in */
function converted ({ type }: ResourceStore, object: Record<string, unknown>, apiVersion: string): Record<string, unknown> {
  const wanted = type.representations.find(one => one.apiVersion === apiVersion)
  if (wanted === undefined) throw new TypeError(`${type.plural} have no version ${apiVersion}`)
  const copy = clone(object)
  return (wanted.conversion?.fromStored(copy as unknown as ApiObject) ?? copy) as Record<string, unknown> // an object of the type
}
