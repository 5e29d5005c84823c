/** Durations and status codes of delegated authentication and authorization calls, with upstream's names. */
import { isClientError } from '../../clients/errors.js'
import type { Metrics } from './metric-series.js'

const SECONDS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10]

/** Measures a call including its retries, and returns its result. */
export type TimeReview = <T>(answer: Promise<T>) => Promise<T>

export function reviewMetrics ({ counter, histogram }: Metrics, of: 'authn' | 'authz'): TimeReview {
  const what = of === 'authn' ? 'tokens' : 'access'
  const requests = counter(
    `apiserver_delegated_${of}_request_total`, `Questions about ${what} sent to another service, by status code.`,
    ['code']
  )
  const durations = histogram(
    `apiserver_delegated_${of}_request_duration_seconds`,
    `Seconds that questions about ${what} to another service took, by status code.`, SECONDS, ['code']
  )
  return async answer => {
    const since = performance.now()
    const record = (code: string): void => {
      requests.with(code).add()
      durations.with(code).observe((performance.now() - since) / 1000)
    }
    try {
      const answered = await answer
      record('200')
      return answered
    } catch (error) {
      const status = isClientError(error) ? error.status : undefined
      record(status === undefined ? '<error>' : String(status))
      throw error
    }
  }
}
