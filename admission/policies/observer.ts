/** What policies and match conditions report to metrics. */
import type { AdmissionOperation } from '../../registry/admission.js'

export type CheckError = 'compile_error' | 'invalid_error' | 'out_of_budget' | 'no_error'

/** Whose match conditions, as metrics name it. */
export interface ConditionsOf {
  readonly name: string
  readonly kind: 'webhook' | 'policy'
  readonly type: 'admit' | 'validating' | 'validate'
  readonly operation: AdmissionOperation
}

export interface PolicyObserver {
  /** A validation is false or failed. @param action what came of it */
  readonly validated: (
    of: { readonly policy: string, readonly binding: string }, error: CheckError,
    action: 'allow' | 'deny' | 'audit' | 'warn', seconds: number
  ) => void
  readonly mutated: (
    of: { readonly policy: string, readonly binding: string }, error: CheckError, seconds: number
  ) => void
  /** @param isExcluded a condition is false */
  readonly conditions: (of: ConditionsOf, seconds: number, errors: number, isExcluded: boolean) => void
}
