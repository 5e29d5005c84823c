/** Computes what quotas count for the objects of one resource. */
import type { AdmissionRequest } from '../../registry/admission.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Amounts } from '../amounts.js'
import type { Scope } from './scopes.js'

export interface Evaluator {
  /** Requests that may increase usage. */
  readonly handles: (request: Pick<AdmissionRequest, 'operation' | 'subresource'>) => boolean
  /** Whether a quota's name belongs to this resource. */
  readonly tracks: (name: string) => boolean
  /** Usage by all tracked names. @param now milliseconds since 1970 */
  readonly usage: (object: ApiObject, now: number) => Amounts
  /** Why an object lacks what a quota on these names requires; undefined if it does not. */
  readonly constraint?: (object: ApiObject, names: readonly string[]) => string | undefined
  readonly isIn: (object: ApiObject, scope: Scope) => boolean
  /** Each object counts as one. */
  readonly countsOnly?: true
}
