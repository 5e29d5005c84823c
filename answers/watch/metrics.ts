/** Metrics of watches by group, version and kind, under 1.36 by resource instead of kind, with upstream's names. */
import type { Gates } from '../../schemas/gates.js'
import { typeLabels, type Representation } from '../../schemas/resource.js'
import { oncePer } from '../../schemas/once-per.js'

const LIST_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60]
const SIZE_BUCKETS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]

/** Receives the events of each watch of a representation; calls are synchronous. */
export interface WatchObserver {
  /** Events sent together, with their total bytes. @param initial whether they belong to the initial state */
  readonly sent: (events: number, bytes: number, initial: boolean) => void
  /** A watch ended because its client was too slow or absent for too long. */
  readonly terminated: () => void
  /** The initial state was sent whole, with its mark. @param scope of the request */
  readonly listed?: ((scope: string, seconds: number) => void) | undefined
}

/** The part of `fastify.orchMetrics` that is used here. */
interface Metrics {
  readonly counter: (name: string, help: string, labels: readonly string[]) => {
    with: (...values: string[]) => { add: (by?: number) => void }
  }
  readonly histogram: (name: string, help: string, bounds: readonly number[], labels: readonly string[]) => {
    with: (...values: string[]) => { observe: (value: number, times?: number) => void }
  }
}

export function observeWatches (
  { counter, histogram }: Metrics, gates: Gates
): (representation: Representation) => WatchObserver {
  const isLater = gates.enabled('MetricsHaveLaterStages')
  const { names, of } = typeLabels(gates)
  const kind = ['group', 'version', isLater ? 'resource' : 'kind']
  const events = counter('apiserver_watch_events_total', 'Events sent to watches, by what they are of.', kind)
  const sizes = histogram(
    'apiserver_watch_events_sizes',
    'Bytes of events sent to watches, those sent together by their mean, by what they are of.',
    SIZE_BUCKETS,
    kind
  )
  const initials = counter(
    'apiserver_init_events_total', 'Events of the state that watches begin with, by resource.', names
  )
  const terminated = counter(
    'apiserver_terminated_watchers_total',
    'Watches that were ended as their clients were too slow, by resource.',
    names
  )
  const listing = (): ReturnType<Metrics['histogram']> => histogram(
    'apiserver_watch_list_duration_seconds',
    'Seconds until a watch had sent the state that it begins with, by group, version, resource and scope.',
    LIST_SECONDS, ['group', 'version', 'resource', 'scope']
  )
  const lists = isLater ? listing() : undefined
  return oncePer(({ group, version, kind, type }: Representation): WatchObserver => {
    const labels = [group, version, isLater ? type.plural : kind]
    let series: ReturnType<typeof make> | undefined
    const make = () => ({
      events: events.with(...labels),
      sizes: sizes.with(...labels),
      initials: initials.with(...of(type))
    })
    return {
      sent: (count, bytes, initial) => {
        if (count === 0) return
        series ??= make()
        series.events.add(count)
        series.sizes.observe(bytes / count, count)
        if (initial) series.initials.add(count)
      },
      terminated: () => { terminated.with(...of(type)).add() },
      listed: lists === undefined
        ? undefined
        : (scope, seconds) => { lists.with(group, version, type.plural, scope).observe(seconds) }
    }
  })
}
