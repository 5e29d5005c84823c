/** Metrics of watches by group, version and kind, with upstream's names. */
import { resourceLabel, type Representation } from '../../schemas/resource.js'

const SIZE_BUCKETS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072]

/** Receives the events of each watch of a representation; calls are synchronous. */
export interface WatchObserver {
  /** Events sent together, with their total bytes. @param initial whether they belong to the initial state */
  readonly sent: (events: number, bytes: number, initial: boolean) => void
  /** A watch ended because its client was too slow or absent for too long. */
  readonly terminated: () => void
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

export function observeWatches ({ counter, histogram }: Metrics): (representation: Representation) => WatchObserver {
  const kind = ['group', 'version', 'kind']
  const events = counter('apiserver_watch_events_total', 'Events sent to watches, by group, version and kind.', kind)
  const sizes = histogram(
    'apiserver_watch_events_sizes',
    'Bytes of events sent to watches, those sent together by their mean, by group, version and kind.',
    SIZE_BUCKETS,
    kind
  )
  const initials = counter(
    'apiserver_init_events_total', 'Events of the state that watches begin with, by resource.', ['resource']
  )
  const terminated = counter(
    'apiserver_terminated_watchers_total',
    'Watches that were ended as their clients were too slow, by resource.',
    ['resource']
  )
  const observers = new WeakMap<Representation, WatchObserver>()
  const observerOf = ({ group, version, kind, type }: Representation): WatchObserver => {
    const resource = resourceLabel(type)
    let series: ReturnType<typeof make> | undefined
    const make = () => ({
      events: events.with(group, version, kind),
      sizes: sizes.with(group, version, kind),
      initials: initials.with(resource)
    })
    return {
      sent: (count, bytes, initial) => {
        if (count === 0) return
        series ??= make()
        series.events.add(count)
        series.sizes.observe(bytes / count, count)
        if (initial) series.initials.add(count)
      },
      terminated: () => { terminated.with(resource).add() }
    }
  }
  return representation => {
    let observer = observers.get(representation)
    if (observer === undefined) observers.set(representation, observer = observerOf(representation))
    return observer
  }
}
