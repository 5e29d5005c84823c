/**
 * `/metrics` in Prometheus text format, with upstream's names; under 1.36 `/metrics/slis` with those of the checks of
 * health, which are often scraped. Plugins declare metrics with `fastify.orchMetrics`; each
 * server in a process has its own registry. Registered right after request info, so that rejected requests are counted.
 * @see interface, 'Health endpoints' 6; flags --disabled-metrics, --etcd-count-metric-poll-period,
 * --etcd-db-metric-poll-interval
 */
import type { FastifyInstance } from 'fastify'
import { served, type ServedRequest } from '../../answers/request-context.js'
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import { usualReader } from '../../schemas/meta/release.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import { buildInfo, releaseInfo } from './build-info.js'
import { polled } from './polled.js'
import { processText } from './process.js'
import type { Exposition } from './merged.js'
import { requestMetrics } from './requests.js'
import { describe } from './stability.js'
import { SummaryFamily } from './summaries.js'
import { plugin } from '../shared/plugin.js'
import { later } from '../shared/server.js'
import { CounterFamily, GaugeFamily, HistogramFamily, type Metrics } from '../shared/metric-series.js'

export type { Counter, Gauge, Histogram, Metric } from '../shared/metric-series.js'

export interface MetricsOptions {
  /** Names of omitted metrics, `--disabled-metrics`. */
  disabled?: readonly string[]
  /** Allowed values by `metric,label`; others are counted as `unexpected`. `--allow-metric-labels`. */
  allowedLabels?: ReadonlyMap<string, readonly string[]>
  /** Milliseconds between counts of stored objects; 0 disables them. Default one minute. */
  countInterval?: number
  /** Milliseconds between readings of the store's size; 0 disables them. Default 30 seconds. */
  sizeInterval?: number
  /** The name of this process among several of one server. Default none. */
  process?: string
  /**
   * Receives the metrics of this process and resolves to those of the others, which `/metrics` merges. Default none.
   */
  others?: (text: Uint8Array) => Promise<readonly Exposition[]>
}

/** Of `health.ts`. */
const OF_CHECKS: ReadonlySet<string> = new Set(['kubernetes_healthcheck', 'kubernetes_healthchecks_total'])

type Family = CounterFamily | GaugeFamily | HistogramFamily | SummaryFamily

interface OfRelease {
  /** Default those of the interface's release. */
  readonly gates?: Gates
  /** `--min-compatibility-version`. Default that of the emulated release. */
  readonly reader?: string | undefined
}

/** The metrics of a server, by name. */
class Families {
  readonly #families = new Map<string, Family>()
  readonly #readers: Array<() => void> = []
  readonly #hidden: ReadonlySet<string>
  readonly #allowedLabels: ReadonlyMap<string, readonly string[]>

  constructor ({ disabled = [], allowedLabels = new Map() }: Pick<MetricsOptions, 'disabled' | 'allowedLabels'>) {
    this.#hidden = new Set(disabled)
    this.#allowedLabels = allowedLabels
  }

  declaring (
    isLater: boolean
  ): Pick<Metrics, 'counter' | 'gauge' | 'histogram' | 'summary' | 'beforeScrape' | 'exposition'> {
    return {
      counter: (name, help, labels = []) =>
        this.#declare(name, CounterFamily, () => new CounterFamily(name, describe(name, help, isLater), labels)),
      gauge: (name, help, labels = []) =>
        this.#declare(name, GaugeFamily, () => new GaugeFamily(name, describe(name, help, isLater), labels)),
      histogram: (name, help, bounds, labels = []) => this.#declare(
        name, HistogramFamily, () => new HistogramFamily(name, describe(name, help, isLater), labels, bounds)
      ),
      summary: (name, help, labels = []) =>
        this.#declare(name, SummaryFamily, () => new SummaryFamily(name, describe(name, help, isLater), labels)),
      beforeScrape: read => { this.#readers.push(read) },
      exposition: async () => await this.text(() => true)
    }
  }

  async text (isShown: (name: string) => boolean): Promise<Buffer> {
    for (const read of this.#readers) read()
    const isWritten = (name: string): boolean => !this.#hidden.has(name) && isShown(name)
    const pieces: Buffer[] = []
    for (const family of this.#families.values()) if (isWritten(family.name)) family.write(pieces)
    pieces.push(Buffer.from(await processText(isWritten)))
    return Buffer.concat(pieces)
  }

  #declare<T extends Family> (name: string, kind: new (...args: never[]) => T, create: () => T): T {
    const known = this.#families.get(name)
    if (known instanceof kind) return known
    if (known !== undefined) throw new TypeError(`metric ${name} is declared with another type`)
    const created = create()
    created.allow(label => this.#allowedLabels.get(`${name},${label}`))
    this.#families.set(name, created)
    return created
  }
}

async function metrics (fastify: FastifyInstance, options: MetricsOptions & OfRelease): Promise<void> {
  const { countInterval = 60_000, sizeInterval = 30_000, process = '', others, gates = DEFAULT_GATES } = options
  const isLater = gates.enabled('MetricsHaveLaterStages')
  const log = fastify.log.child({ module: 'metrics' })
  let closed = false
  const families = new Families(options)
  const declared = families.declaring(isLater)
  const own: Metrics = {
    ...declared, ...polled(declared, { countInterval, sizeInterval }, { gates, log, isClosed: () => closed })
  }
  fastify.decorate('orchMetrics', own)
  buildInfo(own, gates.release)
  if (isLater) releaseInfo(own, gates, options.reader ?? usualReader(gates.release))

  /** Only served paths get labels of their own, to bound the number of series. */
  const resources = later(fastify, 'orchResources')
  const isServed = (request: ServedRequest): boolean => !request.is404 &&
    (!request.orch.info.isResourceRequest || resources()?.serves(request.orch.info) === true)
  const requests = requestMetrics(own, isServed, isLater)
  fastify.addHook('onRequest', (request, reply, done) => {
    requests.begin(served(request), reply)
    done()
  })
  const ofAll = async (isShown: (name: string) => boolean): Promise<Buffer> => {
    if (others === undefined) return await families.text(isShown)
    const mine = await own.exposition()
    const [expositions, { merged }] = await Promise.all([others(mine), import('./merged.js')])
    return await runStepsWithinBudget(merged([{ process, text: mine }, ...expositions], isShown))
  }
  const serve = (path: string, isShown: (name: string) => boolean): void => {
    fastify.get(path, async (_request, reply) => {
      return await reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(await ofAll(isShown))
    })
  }
  serve('/metrics', name => !OF_CHECKS.has(name))
  if (isLater) {
    serve('/metrics/slis', name => OF_CHECKS.has(name) || name === 'process_start_time_seconds')
  }
  fastify.addHook('onClose', (_instance, done) => {
    closed = true
    done()
  })
}

export default plugin<MetricsOptions & OfRelease>()(metrics, {
  name: 'orch/metrics', fastify: '5.x', decorators: { request: ['orch'] }
})
