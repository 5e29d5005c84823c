/** What is true of the process, whichever of its servers is asked: CPU, memory, descriptors, the event loop. prom-client reads it. */
import type * as PromClient from 'prom-client'
import type { Registry } from 'prom-client'
import { onDemand } from '../../schemas/on-demand.js'

/** Loaded by the first scrape. */
const promClient = onDemand<typeof PromClient>('prom-client')
/** Gauges whose names are those of counters. The same numbers are in those by type. */
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

/** In the text format. @param hidden names that are left out */
export async function processText (hidden: ReadonlySet<string>): Promise<string> {
  const known = registry()
  const names = known.getMetricsAsArray().map(({ name }) => name).filter(name => !hidden.has(name))
  const texts = await Promise.all(names.map(name => known.getSingleMetricAsString(name)))
  return texts.map(text => `${text}\n`).join('').replace(/ Nan$/gm, ' NaN') // before there was a sample; as the format spells it
}
