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
  /** Observes one key service of version 2. @param name of its provider in the configuration */
  readonly keyService: (name: string) => KeyServiceObserver
}

export interface KeyServiceObserver {
  /** A call ended after that many seconds, with a status of gRPC such as OK. */
  readonly called: (method: string, status: string, seconds: number) => void
  /** A value was encrypted or decrypted by way of a key of the service. */
  readonly used: (direction: Direction, keyId: string) => void
  /** The service said which key it uses. */
  readonly named: (keyId: string) => void
  /** The service named its key in a way that is not allowed. */
  readonly misnamed: (how: 'empty' | 'too_long') => void
  /** So many seeds are in memory now. */
  readonly kept: (seeds: number) => void
}

export type Direction = 'to_storage' | 'from_storage'

export const UNOBSERVED_SERVICE: KeyServiceObserver = {
  called: () => {}, used: () => {}, named: () => {}, misnamed: () => {}, kept: () => {}
}

export const UNOBSERVED: TransformationObserver = {
  transformed: () => {}, missed: () => {}, generated: () => {}, keyService: () => UNOBSERVED_SERVICE
}
