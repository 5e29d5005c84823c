/** Who is told of what PodSecurity judged, for metrics: this room knows none. */
import type { AdmissionRequest } from '../../registry/admission.js'
import type { LevelVersion, MODES } from './policy.js'

export interface PodSecurityObserver {
  /** A pod or template was judged; of audit and warn only refusals are told. */
  readonly evaluated: (request: AdmissionRequest, mode: typeof MODES[number], policy: LevelVersion, allowed: boolean) => void
  /** A pod or template was not judged, for its namespace, user or runtime class. */
  readonly exempted: (request: AdmissionRequest) => void
  /** @param fatal false where it was judged all the same, by the strictest level */
  readonly failed: (request: AdmissionRequest, fatal: boolean) => void
}

export const UNOBSERVED: PodSecurityObserver = { evaluated: () => {}, exempted: () => {}, failed: () => {} }
