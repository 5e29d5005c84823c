/**
 * Process metrics from prom-client: CPU, memory, file descriptors, event loop. Shared by all servers of the process.
 */
import type * as PromClient from 'prom-client'
import type { Registry } from 'prom-client'
import { onDemand } from '../../schemas/on-demand.js'

/** Loaded by the first scrape. */
const promClient = onDemand<typeof PromClient>('prom-client')
/** Gauges with the suffix of counters. The metrics by type have the same numbers. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']
let processMetrics: Registry | undefined

function registry (): Registry {
  if (processMetrics === undefined) {
    const { Registry, collectDefaultMetrics } = promClient()
    processMetrics = new Registry()
    collectDefaultMetrics({ register: processMetrics, eventLoopMonitoringPrecision: 20 })
    for (const name of MISNAMED) processMetrics.removeSingleMetric(name)
  }
  return processMetrics
}

/** Renders the text format of the metrics that are shown. */
export async function processText (isShown: (name: string) => boolean): Promise<string> {
  const metrics = registry()
  const names = metrics.getMetricsAsArray().map(({ name }) => name).filter(isShown)
  const texts = await Promise.all(names.map(name => metrics.getSingleMetricAsString(name)))
  // prom-client's spelling of NaN is invalid; it occurs before the first sample
  return texts.map(text => `${text}\n`).join('').replace(/ Nan$/gm, ' NaN')
}
