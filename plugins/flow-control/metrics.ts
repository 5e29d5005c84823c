/** `apiserver_flowcontrol_…` metrics, by priority level and flow schema. */
import type { Flow } from '../../flow-control/flow-control.js'
import type { QueueObserver, QueueSet } from '../../flow-control/queue-set.js'
import type { Refusal } from '../../flow-control/queue.js'
import type { Counter, Gauge, Histogram, Metrics } from '../shared/metric-series.js'
import { PARTS, Utilization, utilizationSeries } from '../shared/utilization.js'

const LENGTHS = [0, 10, 25, 50, 100, 250, 500, 1000]
const SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const SEATS = [1, 2, 4, 10]
const WATCHES = [0, 1, 10, 100, 1000, 10_000]
const OF_FLOW = ['priority_level', 'flow_schema']

/** Series of one flow. */
export interface FlowSeries {
  readonly dispatched: Counter
  readonly executing: Gauge
  readonly seats: Gauge
  readonly waiting: Gauge
  readonly queueLength: Histogram
  readonly estimated: Histogram
  readonly watches: Histogram
  readonly waited: Histogram
  readonly waitedThenRejected: Histogram
  readonly ran: Histogram
  readonly ranAsWatch: Histogram
  readonly rejected: (reason: Refusal) => void
}

export interface FlowMetrics {
  readonly of: (flow: Flow) => FlowSeries
  readonly observe: (level: string) => QueueObserver
  readonly limited: (level: string, seats: number) => void
}

export function flowMetrics (metrics: Metrics): FlowMetrics {
  const name = (rest: string): string => `apiserver_flowcontrol_${rest}`
  const rejected = metrics.counter(
    name('rejected_requests_total'), 'Requests that priority and fairness refused, by reason.', [...OF_FLOW, 'reason']
  )
  const dispatched = metrics.counter(
    name('dispatched_requests_total'), 'Requests that priority and fairness let run.', OF_FLOW
  )
  const executing = metrics.gauge(
    name('current_executing_requests'), 'Requests that run, watches while they begin.', OF_FLOW
  )
  const inUse = metrics.gauge(
    name('request_concurrency_in_use'), 'Seats of the requests that run, watches while they begin.', OF_FLOW
  )
  const waiting = metrics.gauge(name('current_inqueue_requests'), 'Requests that wait in queues.', OF_FLOW)
  const lengths = metrics.histogram(
    name('request_queue_length_after_enqueue'), 'Length of the queue that a request joined, itself included.', LENGTHS,
    OF_FLOW
  )
  const estimated = metrics.histogram(
    name('work_estimated_seats'), 'Seats that requests were expected to need.', SEATS, OF_FLOW
  )
  const watches = metrics.histogram(
    name('watch_count_samples'), 'Watches that a write was expected to wake.', WATCHES, OF_FLOW
  )
  const waited = metrics.histogram(
    name('request_wait_duration_seconds'), 'Seconds that requests waited in a queue.', SECONDS, [...OF_FLOW, 'execute']
  )
  const ran = metrics.histogram(
    name('request_execution_seconds'), 'Seconds that requests ran, watches until they had begun.', SECONDS,
    [...OF_FLOW, 'type']
  )
  const limits = metrics.gauge(name('request_concurrency_limit'), 'Seats of a level.', ['priority_level'])
  const currentR = metrics.gauge(
    name('current_r'), 'Virtual time of a level when it last changed, in seat seconds.', ['priority_level']
  )
  const dispatchR = metrics.gauge(
    name('dispatch_r'), 'Virtual time of a level when a request was last let run, in seat seconds.', ['priority_level']
  )
  const latestS = metrics.gauge(
    name('latest_s'), 'Virtual start of the request that was last let run, in seat seconds.', ['priority_level']
  )
  const nextS = metrics.gauge(
    name('next_s_bounds'),
    'Least and most, over the queues of a level, of the virtual start of the oldest request that waits, in seat ' +
      'seconds.',
    ['priority_level', 'bound']
  )
  const nextDiscountedS = metrics
    .gauge(
      name('next_discounted_s_bounds'),
      'Least and most, over the queues of a level, of the virtual start of the oldest request that waits less what ' +
        'runs of the queue is expected to cost, in seat seconds.',
      ['priority_level', 'bound']
    )
  const lacking = metrics.counter(
    name('request_dispatch_no_accommodation_total'), 'Times a request had its turn and there were not enough seats.',
    OF_FLOW
  )
  const requestSamples = metrics
    .histogram(
      name('priority_level_request_count_samples'),
      'Requests that wait, as part of the room in the queues of the level, or run, as part of its seats, at the end ' +
        'of each millisecond; watches while they begin.',
      PARTS, ['phase', 'priority_level']
    )
  const requestMarks =
    metrics.histogram(name('priority_level_request_count_watermarks'), 'The least and the most requests that waited ' +
      'or ran within each millisecond, as parts of the room in the queues of the level and of its seats.', PARTS, [
      'mark', 'phase', 'priority_level'
    ])
  const seatSamples = metrics.histogram(
    name('priority_level_seat_count_samples'),
    'Seats in use, as part of those of the level, at the end of each millisecond; of watches while they begin.', PARTS,
    ['phase', 'priority_level']
  )
  const seatMarks = metrics.histogram(
    name('priority_level_seat_count_watermarks'),
    'The least and the most seats in use within each millisecond, as part of those of the level.', PARTS,
    ['mark', 'phase', 'priority_level']
  )
  const sets = new Map<string, QueueSet>()
  metrics.beforeScrape(() => {
    for (const [level, { nextStarts }] of sets) {
      if (nextStarts === undefined) continue
      nextS.with(level, 'min').set(nextStarts.min)
      nextS.with(level, 'max').set(nextStarts.max)
      nextDiscountedS.with(level, 'min').set(nextStarts.minDiscounted)
      nextDiscountedS.with(level, 'max').set(nextStarts.maxDiscounted)
    }
  })

  const known = new WeakMap<Flow, FlowSeries>()
  const make = ({ name: schema, level: { name: level } }: Flow): FlowSeries => ({
    dispatched: dispatched.with(level, schema),
    executing: executing.with(level, schema),
    seats: inUse.with(level, schema),
    waiting: waiting.with(level, schema),
    queueLength: lengths.with(level, schema),
    estimated: estimated.with(level, schema),
    watches: watches.with(level, schema),
    waited: waited.with(level, schema, 'true'),
    waitedThenRejected: waited.with(level, schema, 'false'),
    ran: ran.with(level, schema, 'regular'),
    ranAsWatch: ran.with(level, schema, 'watch'),
    rejected: reason => { rejected.with(level, schema, reason).add() }
  })
  return {
    of: flow => {
      let series = known.get(flow)
      if (series === undefined) known.set(flow, series = make(flow))
      return series
    },
    observe: level => {
      const [current, dispatch, latest] = [currentR.with(level), dispatchR.with(level), latestS.with(level)]
      const waits = new Utilization(utilizationSeries(requestSamples, requestMarks, 'waiting', level))
      const runs = new Utilization(utilizationSeries(requestSamples, requestMarks, 'executing', level))
      const seats = new Utilization(utilizationSeries(seatSamples, seatMarks, 'executing', level))
      return {
        changed: set => {
          sets.set(level, set)
          const { now, settings: { limit, queues, lengthLimit } } = set
          waits.set(set.waiting, Math.max(1, queues * lengthLimit), now)
          runs.set(set.executing, Math.max(1, limit), now)
          seats.set(set.seatsInUse, Math.max(1, limit), now)
        },
        dispatched: (now, start) => {
          current.set(now)
          dispatch.set(now)
          latest.set(start)
        },
        notAccommodated: ({ schema }) => { lacking.with(level, schema).add() }
      }
    },
    limited: (level, seats) => {
      limits.with(level).set(seats)
      if (seats === 0) sets.delete(level)
    }
  }
}
