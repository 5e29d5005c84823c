/**
 * Health checks call the key service, so their results are cached: successes for 20 seconds, failures for 3, as
 * upstream.
 */
const SUCCESS_MS = 20_000
const FAILURE_MS = 3000

/** @param check rejects if the service fails @param now monotonic clock, milliseconds */
export function cachedCheck (check: () => Promise<void>, now = () => performance.now()): () => Promise<void> {
  let outcome: Promise<void> | undefined
  let until = -Infinity
  return () => {
    if (outcome !== undefined && now() < until) return outcome
    until = Infinity
    outcome = check().then(
      () => { until = now() + SUCCESS_MS },
      (error: unknown) => {
        until = now() + FAILURE_MS
        throw error
      })
    return outcome
  }
}
