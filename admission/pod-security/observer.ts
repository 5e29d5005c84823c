/** Observes PodSecurity, for metrics. */
import type { AdmissionRequest } from '../../registry/admission.js'
import type { LevelVersion, MODES } from './policy.js'

export interface PodSecurityObserver {
  /** A pod or template was evaluated; audit and warn report only violations. */
  readonly evaluated: (
    request: AdmissionRequest, mode: typeof MODES[number], policy: LevelVersion, allowed: boolean
  ) => void
  /** A pod or template was exempt because of its namespace, user or runtime class. */
  readonly exempted: (request: AdmissionRequest) => void
  /** @param fatal false if it was evaluated nevertheless, at the strictest level */
  readonly failed: (request: AdmissionRequest, fatal: boolean) => void
}

export const UNOBSERVED: PodSecurityObserver = { evaluated: () => {}, exempted: () => {}, failed: () => {} }
