/** Metrics of waiting and executing requests, read-only and mutating. Shared by the plain limits and flow control. */
import { Utilization, PARTS, utilizationSeries } from './utilization.js'
import type { Counter, Metrics } from './metric-series.js'

/** `now` is a recent `performance.now()`, to save a clock read. */
export interface KindSeries {
  readonly dropped: Counter, readonly waiting: (by: number) => void,
  readonly executing: (by: number, now?: number) => void
}
export interface Kinds { readonly readOnly: KindSeries, readonly mutating: KindSeries }

/** @param limits scale the numbers to ratios; without, counts are reported */
export function requestKinds (
  { counter, gauge, histogram }: Metrics,
  limits: { readonly readOnly: number, readonly mutating: number } = { readOnly: 1, mutating: 1 }
): Kinds {
  const samples = histogram(
    'apiserver_flowcontrol_read_vs_write_request_count_samples',
    'Requests that wait or run, as part of their limit where there is one, at the end of each millisecond.', PARTS,
    ['phase', 'request_kind']
  )
  const watermarks =
    histogram('apiserver_flowcontrol_read_vs_write_request_count_watermarks', 'The least and the most requests that ' +
      'waited or ran within each millisecond, as part of their limit where there is one.', PARTS, [
      'mark', 'phase', 'request_kind'
    ])
  const queued = gauge('apiserver_current_inqueue_requests', 'Requests that wait in queues, by kind.', ['request_kind'])
  const dropped = counter(
    'apiserver_dropped_requests_total', 'Requests refused because too many were under way.', ['request_kind']
  )
  const kind = (name: 'readOnly' | 'mutating'): KindSeries => {
    const waiting = new Utilization(utilizationSeries(samples, watermarks, 'waiting', name))
    const executing = new Utilization(utilizationSeries(samples, watermarks, 'executing', name), limits[name])
    const inQueue = queued.with(name)
    return {
      dropped: dropped.with(name),
      waiting: by => {
        inQueue.add(by)
        waiting.add(by)
      },
      executing: (by, now) => { executing.add(by, now) }
    }
  }
  return { readOnly: kind('readOnly'), mutating: kind('mutating') }
}
