import type { UserInfo } from '../../schemas/meta/user-info.js'
import { clone, type ApiObject } from '../../schemas/index.js'
import type { Span } from '../trace.js'
import type { AdmissionReader, AdmissionRequest, AdmissionOperation } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'
import type { Caller, Target, WriteContext } from './context.js'

/** Values that an operation adds, or sets differently from its resource. */
type Overrides = Partial<Pick<AdmissionRequest, 'precondition' | 'trackOwnership' | 'kind' | 'requested'>>

const NO_OPTIONS = Object.freeze({})

/**
 * A class because of its getter: V8 gives each object literal with a getter its own hidden class, which retains the whole request until the next full
 * collection.
 */
class Request implements AdmissionRequest {
  readonly operation: AdmissionOperation
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
  readonly trackOwnership: AdmissionRequest['trackOwnership']
  readonly waited: AdmissionRequest['waited']
  readonly #caller: Caller

  constructor (store: ResourceStore, context: WriteContext, target: Target, operation: AdmissionOperation, object: ApiObject | undefined, oldObject: ApiObject | undefined, overrides: Overrides) {
    const { group, version, plural, kind } = store.stored
    this.operation = operation
    this.group = group
    this.version = version
    this.resource = plural
    this.kind = overrides.kind ?? kind
    this.subresource = target.subresource ?? ''
    this.namespace = target.namespace
    this.name = target.name
    this.user = context.user
    this.dryRun = context.dryRun
    this.trace = context.trace
    this.options = context.options ?? NO_OPTIONS
    this.requested = overrides.requested ?? store.representation
    this.reader = store.reader
    this.convert = (object, apiVersion) => convertTo(store, object, apiVersion)
    this.annotate = (key, value, level = 'Metadata') => { (level === 'Metadata' ? context.annotate : context.annotateObject)?.(key, value) }
    // Plugins access members by name.
    this.object = object as Record<string, unknown> | undefined
    this.oldObject = oldObject as Record<string, unknown> | undefined
    this.warn = context.warn
    this.precondition = overrides.precondition
    this.trackOwnership = overrides.trackOwnership
    this.waited = context.waited
    this.#caller = context.caller
  }

  get signal (): AbortSignal { return this.#caller.signal }
}

/** Builds the admission request of an operation. The name may be set later, once it is generated. */
export function admissionRequest (store: ResourceStore, context: WriteContext, target: Target, operation: AdmissionOperation, object: ApiObject | undefined, oldObject: ApiObject | undefined, overrides: Overrides = {}): AdmissionRequest & { name: string } {
  return new Request(store, context, target, operation, object, oldObject, overrides)
}

/** @throws TypeError for a version in which the type is not served */
function convertTo ({ type }: ResourceStore, object: Record<string, unknown>, apiVersion: string): Record<string, unknown> {
  const desired = type.representations.find(one => one.apiVersion === apiVersion)
  if (desired === undefined) throw new TypeError(`${type.plural} have no version ${apiVersion}`)
  const copy = clone(object)
  return (desired.conversion?.fromStored(copy as unknown as ApiObject) ?? copy) as Record<string, unknown> // an object of the type
}
