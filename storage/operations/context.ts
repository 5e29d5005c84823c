/** What an operation needs to know of who asks and how; the same for every verb that writes. */
import type { UserInfo } from '../../schemas/request.js'
import type { ApiObject } from '../../schemas/index.js'
import { invalid } from '../../schemas/status.js'
import type { FieldError } from '../../schemas/status.js'
import type { AdmissionRequest } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'

export interface WriteContext {
  readonly user: UserInfo | undefined
  /** Every stage runs but the write. */
  readonly dryRun: boolean
  readonly warn: (text: string) => void
  /** Bytes of the body it came with, 0 or absent where there is none. */
  readonly size?: number
  /** Aborted when nobody waits for the outcome any more; a write already sent is still finished. */
  readonly signal: AbortSignal
}

export interface Target { readonly namespace: string, readonly name: string, readonly subresource?: string }

export function admissionRequest (store: ResourceStore, context: WriteContext, target: Target, operation: AdmissionRequest['operation'], object: ApiObject | undefined, oldObject: ApiObject | undefined): AdmissionRequest {
  const { group, version, plural, kind } = store.definition
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
    object: object as Record<string, unknown> | undefined, // admission reads and writes members by name
    oldObject: oldObject as Record<string, unknown> | undefined,
    warn: context.warn
  }
}

/** @throws StatusError 422 with a cause per finding, when there are any. */
export function refuse (store: ResourceStore, object: ApiObject, errors: readonly FieldError[]): void {
  const { group, kind } = store.definition
  if (errors.length > 0) throw invalid({ group, kind }, object.metadata.name ?? '', errors)
}

/** Each step with an object of so many bytes (decoding, validating, encoding) takes a millisecond or more. */
const LARGE_BYTES = 128 * 1024

/** Between two steps with a large object: a turn of the event loop for everybody else. */
export async function giveWay (bytes: number): Promise<void> {
  if (bytes > LARGE_BYTES) await new Promise(resolve => { setImmediate(resolve) })
}
