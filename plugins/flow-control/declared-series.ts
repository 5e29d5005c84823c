/** The `apiserver_flowcontrol_…` series. */
import type { Bounds } from '../../flow-control/lending.js'
import type { Metrics } from '../shared/metric-series.js'
import { PARTS } from '../shared/utilization.js'

const LENGTHS = [0, 10, 25, 50, 100, 250, 500, 1000]
const SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const SEATS = [1, 2, 4, 10]
const WATCHES = [0, 1, 10, 100, 1000, 10_000]
const OF_FLOW = ['priority_level', 'flow_schema']
const OF_LEVEL = ['priority_level']

const name = (rest: string): string => `apiserver_flowcontrol_${rest}`

/** Of requests, by flow. @param lends whether levels lend each other seats; some names are others then */
export const declareFlowSeries = ({ counter, gauge, histogram }: Metrics, lends: boolean) => ({
  rejected: counter(
    name('rejected_requests_total'), 'Requests that priority and fairness refused, by reason.', [...OF_FLOW, 'reason']
  ),
  dispatched: counter(
    name('dispatched_requests_total'), 'Requests that priority and fairness let run.', OF_FLOW
  ),
  executing: gauge(
    name('current_executing_requests'), 'Requests that run, watches while they begin.', OF_FLOW
  ),
  inUse: gauge(
    name(lends ? 'current_executing_seats' : 'request_concurrency_in_use'),
    'Seats of the requests that run, watches while they begin.', OF_FLOW
  ),
  waiting: gauge(name('current_inqueue_requests'), 'Requests that wait in queues.', OF_FLOW),
  lengths: histogram(
    name('request_queue_length_after_enqueue'), 'Length of the queue that a request joined, itself included.', LENGTHS,
    OF_FLOW
  ),
  estimated: histogram(
    name('work_estimated_seats'), 'Seats that requests were expected to need.', SEATS, OF_FLOW
  ),
  watches: histogram(
    name('watch_count_samples'), 'Watches that a write was expected to wake.', WATCHES, OF_FLOW
  ),
  waited: histogram(
    name('request_wait_duration_seconds'), 'Seconds that requests waited in a queue.', SECONDS, [...OF_FLOW, 'execute']
  ),
  ran: histogram(
    name('request_execution_seconds'), 'Seconds that requests ran, watches until they had begun.', SECONDS,
    [...OF_FLOW, 'type']
  ),
  lacking: counter(
    name('request_dispatch_no_accommodation_total'), 'Times a request had its turn and there were not enough seats.',
    OF_FLOW
  )
})

/** The seats of a level. @returns what sets them; 0 seats on removal */
export function seatsSeries (
  { gauge }: Metrics, lends: boolean
): (level: string, seats: number, bounds?: Bounds) => void {
  const limits = gauge(name(lends ? 'current_limit_seats' : 'request_concurrency_limit'), 'Seats of a level.', OF_LEVEL)
  if (!lends) return (level, seats) => { limits.with(level).set(seats) }
  const nominal = gauge(
    name('nominal_limit_seats'), 'Seats of a level by its shares, before it lends or borrows.', OF_LEVEL
  )
  const least = gauge(name('lower_limit_seats'), 'Seats that a level keeps, whatever others ask for.', OF_LEVEL)
  const most = gauge(name('upper_limit_seats'), 'Most seats of a level, with those it may borrow.', OF_LEVEL)
  return (level, seats, bounds = { nominal: 0, least: 0, most: 0 }) => {
    limits.with(level).set(seats)
    nominal.with(level).set(bounds.nominal)
    least.with(level).set(bounds.least)
    most.with(level).set(bounds.most)
  }
}

/** Of the queues of a level, and how far they are used. */
export const declareLevelSeries = ({ gauge, histogram }: Metrics) => ({
  currentR: gauge(
    name('current_r'), 'Virtual time of a level when it last changed, in seat seconds.', OF_LEVEL
  ),
  dispatchR: gauge(
    name('dispatch_r'), 'Virtual time of a level when a request was last let run, in seat seconds.', OF_LEVEL
  ),
  latestS: gauge(
    name('latest_s'), 'Virtual start of the request that was last let run, in seat seconds.', OF_LEVEL
  ),
  nextS: gauge(
    name('next_s_bounds'),
    'Least and most, over the queues of a level, of the virtual start of the oldest request that waits, in seat ' +
      'seconds.',
    [...OF_LEVEL, 'bound']
  ),
  nextDiscountedS: gauge(
    name('next_discounted_s_bounds'),
    'Least and most, over the queues of a level, of the virtual start of the oldest request that waits less what ' +
      'runs of the queue is expected to cost, in seat seconds.',
    [...OF_LEVEL, 'bound']
  ),
  requestSamples: histogram(
    name('priority_level_request_count_samples'),
    'Requests that wait, as part of the room in the queues of the level, or run, as part of its seats, at the end ' +
      'of each millisecond; watches while they begin.',
    PARTS, ['phase', ...OF_LEVEL]
  ),
  requestMarks: histogram(
    name('priority_level_request_count_watermarks'),
    'The least and the most requests that waited or ran within each millisecond, as parts of the room in the queues ' +
      'of the level and of its seats.',
    PARTS, ['mark', 'phase', ...OF_LEVEL]
  ),
  seatSamples: histogram(
    name('priority_level_seat_count_samples'),
    'Seats in use, as part of those of the level, at the end of each millisecond; of watches while they begin.', PARTS,
    ['phase', ...OF_LEVEL]
  ),
  seatMarks: histogram(
    name('priority_level_seat_count_watermarks'),
    'The least and the most seats in use within each millisecond, as part of those of the level.', PARTS,
    ['mark', 'phase', ...OF_LEVEL]
  )
})
