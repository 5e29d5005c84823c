/**
 * Admission: the last word on a change before it is validated and stored. Called from inside the
 * operation, on every attempt of an update, so that it always judges what will really be written.
 */
import type { UserInfo } from '../schemas/request.js'

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly user: UserInfo | undefined
  readonly dryRun: boolean
  /** The object to be written; a mutating plugin changes it in place. Undefined on DELETE. */
  readonly object: Record<string, unknown> | undefined
  /** What is there now; undefined on CREATE. */
  readonly oldObject: Record<string, unknown> | undefined
  /** Adds a Warning header to the answer. */
  readonly warn: (text: string) => void
}

export interface AdmissionPlugin {
  readonly name: string
  /** True when a real request would change something outside the object: dry runs are then refused. */
  readonly sideEffects?: boolean
  handles: (request: AdmissionRequest) => boolean
  /** Runs before defaults are final and validation; may change `request.object`. Throws a StatusError to refuse. */
  mutate?: (request: AdmissionRequest) => void | Promise<void>
  /** Runs after validation; must not change anything. Throws a StatusError to refuse. */
  validate?: (request: AdmissionRequest) => void | Promise<void>
}
