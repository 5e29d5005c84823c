/** Metrics that are asked for now and then: how many objects there are, and how large the stores. */
import type { FastifyBaseLogger } from 'fastify'
import type { Gates } from '../../schemas/gates.js'
import { resourceLabel, typeLabels } from '../../schemas/resource.js'
import type { Metrics } from '../shared/metric-series.js'

/** Milliseconds between two readings; 0 for none. */
export interface Intervals { readonly countInterval: number, readonly sizeInterval: number }

interface Context { readonly gates: Gates, readonly log: FastifyBaseLogger, readonly isClosed: () => boolean }

export function polled (
  { gauge }: Pick<Metrics, 'gauge'>, { countInterval, sizeInterval }: Intervals, { gates, log, isClosed }: Context
): Pick<Metrics, 'trackObjects' | 'trackStore'> {
  const isLater = gates.enabled('MetricsHaveLaterStages')
  const { names, of } = typeLabels(gates)
  const poll = (interval: number, read: () => Promise<void>): void => {
    if (interval <= 0) return
    const again = (): void => { if (!isClosed()) setTimeout(once, interval).unref() }
    const once = (): void => {
      read().catch((error: unknown) => log.debug({ err: error }, 'a metric could not be read')).finally(again)
    }
    setImmediate(() => { if (!isClosed()) once() }).unref()
  }
  return {
    trackObjects: (type, count) => {
      const help = 'Objects in the store, by resource, when they were last counted.'
      const gauges = [gauge('apiserver_storage_objects', help, ['resource']).with(resourceLabel(type))]
      if (isLater) gauges.push(gauge('apiserver_resource_objects', help, names).with(...of(type)))
      poll(countInterval, async () => {
        const objects = await count()
        for (const gauge of gauges) gauge.set(objects)
      })
    },
    trackStore: (name, status, endpoint) => {
      const label = isLater ? 'storage_cluster_id' : 'store'
      const gauges = [gauge('apiserver_storage_size_bytes', 'Bytes the store occupies.', [label]).with(name)]
      if (endpoint !== undefined) {
        gauges.push(
          gauge(
            'etcd_db_total_size_in_bytes', 'Bytes that the database file of etcd occupies.', ['endpoint']
          ).with(endpoint)
        )
      }
      poll(sizeInterval, async () => {
        const { size } = await status()
        for (const gauge of gauges) gauge.set(size)
      })
    }
  }
}
