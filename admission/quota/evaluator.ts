/** What quotas count of the objects of one resource. */
import type { AdmissionRequest } from '../../registry/admission.js'
import type { ApiObject } from '../../schemas/index.js'
import type { Amounts } from '../amounts.js'
import type { Scope } from './scopes.js'

export interface Evaluator {
  /** Requests that may use more. */
  readonly handles: (request: Pick<AdmissionRequest, 'operation' | 'subresource'>) => boolean
  /** Whether it is what a quota calls so. */
  readonly tracks: (name: string) => boolean
  /** By all the names that it tracks. @param now milliseconds since 1970 */
  readonly usage: (object: ApiObject, now: number) => Amounts
  /** What an object has to say where a quota is about these names; undefined where it does. */
  readonly constraint?: (object: ApiObject, names: readonly string[]) => string | undefined
  readonly isIn: (object: ApiObject, scope: Scope) => boolean
  /** Each object is one, whatever it is. */
  readonly countsOnly?: true
}
