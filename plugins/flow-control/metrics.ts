/** `apiserver_flowcontrol_…` metrics, by priority level and flow schema. */
import type { Flow } from '../../flow-control/flow-control.js'
import type { Bounds } from '../../flow-control/lending.js'
import type { QueueObserver, QueueSet } from '../../flow-control/queue-set.js'
import type { Refusal } from '../../flow-control/queue.js'
import type { Counter, Gauge, Histogram, Metrics } from '../shared/metric-series.js'
import { Utilization, utilizationSeries } from '../shared/utilization.js'
import { declareFlowSeries, declareLevelSeries, seatsSeries } from './declared-series.js'
import { oncePer } from '../../schemas/once-per.js'

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
  readonly limited: (level: string, seats: number, bounds?: Bounds) => void
}

/** @param lends whether levels lend each other seats */
export function flowMetrics (metrics: Metrics, lends = false): FlowMetrics {
  const ofFlow = declareFlowSeries(metrics, lends)
  const limit = seatsSeries(metrics, lends)
  const ofLevel = declareLevelSeries(metrics)
  const sets = new Map<string, QueueSet>()
  metrics.beforeScrape(() => {
    for (const [level, { nextStarts }] of sets) {
      if (nextStarts === undefined) continue
      ofLevel.nextS.with(level, 'min').set(nextStarts.min)
      ofLevel.nextS.with(level, 'max').set(nextStarts.max)
      ofLevel.nextDiscountedS.with(level, 'min').set(nextStarts.minDiscounted)
      ofLevel.nextDiscountedS.with(level, 'max').set(nextStarts.maxDiscounted)
    }
  })

  return {
    of: oncePer((flow: Flow) => seriesOf(ofFlow, flow)),
    observe: level => {
      const { changed, dispatched } = observed(ofLevel, level)
      return {
        changed: set => {
          sets.set(level, set)
          changed(set)
        },
        dispatched,
        notAccommodated: ({ schema }) => { ofFlow.lacking.with(level, schema).add() }
      }
    },
    limited: (level, seats, bounds) => {
      limit(level, seats, bounds)
      if (seats === 0) sets.delete(level)
    }
  }
}

function seriesOf (
  declared: ReturnType<typeof declareFlowSeries>, { name: schema, level: { name: level } }: Flow
): FlowSeries {
  const { executing, inUse, waited, ran } = declared
  return {
    dispatched: declared.dispatched.with(level, schema),
    executing: executing.with(level, schema),
    seats: inUse.with(level, schema),
    waiting: declared.waiting.with(level, schema),
    queueLength: declared.lengths.with(level, schema),
    estimated: declared.estimated.with(level, schema),
    watches: declared.watches.with(level, schema),
    waited: waited.with(level, schema, 'true'),
    waitedThenRejected: waited.with(level, schema, 'false'),
    ran: ran.with(level, schema, 'regular'),
    ranAsWatch: ran.with(level, schema, 'watch'),
    rejected: reason => { declared.rejected.with(level, schema, reason).add() }
  }
}

/** How far a level is used, and its virtual times. */
function observed (
  { requestSamples, requestMarks, seatSamples, seatMarks, ...times }: ReturnType<typeof declareLevelSeries>,
  level: string
): Required<Pick<QueueObserver, 'changed' | 'dispatched'>> {
  const [current, dispatch] = [times.currentR.with(level), times.dispatchR.with(level)]
  const latest = times.latestS.with(level)
  const waits = new Utilization(utilizationSeries(requestSamples, requestMarks, 'waiting', level))
  const runs = new Utilization(utilizationSeries(requestSamples, requestMarks, 'executing', level))
  const seats = new Utilization(utilizationSeries(seatSamples, seatMarks, 'executing', level))
  return {
    changed: ({ now, waiting, executing, seatsInUse, settings: { limit, queues, lengthLimit } }) => {
      waits.set(waiting, Math.max(1, queues * lengthLimit), now)
      runs.set(executing, Math.max(1, limit), now)
      seats.set(seatsInUse, Math.max(1, limit), now)
    },
    dispatched: (now, start) => {
      current.set(now)
      dispatch.set(now)
      latest.set(start)
    }
  }
}
