/** Observes encryption, for metrics. Calls are synchronous and must not throw. */
export interface TransformationObserver {
  /**
   * A value was encrypted or decrypted (status OK), or failed. `prefix` is that of the provider or of the key, `status`
   * gRPC's name of the reason.
   */
  readonly transformed: (direction: Direction, prefix: string, status: string, seconds: number) => void
  /** A key was needed that is not in memory. */
  readonly missed: () => void
  /** A key was generated in that many seconds; undefined if that failed. */
  readonly generated: (seconds: number | undefined) => void
}

export type Direction = 'to_storage' | 'from_storage'

export const UNOBSERVED: TransformationObserver = { transformed: () => {}, missed: () => {}, generated: () => {} }
