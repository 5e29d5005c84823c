/** Metrics of release 1.36: how requests were decided about, and in what time. */
import type { Ruling } from '../../auth/authorizer.js'
import { doubling, type Metrics } from '../shared/metric-series.js'

/** Bounds of the histogram in seconds: 1 ms, then each twice the one before. */
const SECONDS = doubling(0.001, 15)
const RESULTS = ['allowed', 'denied', 'no-opinion', 'error'] as const

const resultOf = ({ decision, evaluationError }: Ruling): typeof RESULTS[number] =>
  decision === 'Allow'
    ? 'allowed'
    : evaluationError !== undefined
      ? 'error'
      : decision === 'Deny' ? 'denied' : 'no-opinion'

/** Receives each decision about a request, with its seconds. */
export function observeAttempts ({ counter, histogram }: Metrics): (ruling: Ruling, seconds: number) => void {
  const attempts = counter('authorization_attempts_total', 'Requests that were decided about, by result.', ['result'])
  const times = histogram('authorization_duration_seconds', 'Seconds of decisions, by result.', SECONDS, ['result'])
  const series = new Map(RESULTS.map(result => [result, { number: attempts.with(result), time: times.with(result) }]))
  return (ruling, seconds) => {
    const of = series.get(resultOf(ruling))
    of?.number.add()
    of?.time.observe(seconds)
  }
}
