/**
 * `/metrics`: what the server did, in Prometheus text under the conventional names. Other parts declare
 * their own metrics through `fastify.orch.metrics`; each server in a process has its own registry.
 *
 * It stands right behind request info, so that refused requests count too. Labels come from the parsed
 * request, but only where a route was matched: an unknown path or method never makes a series.
 *
 * @see interface, 'Health endpoints' 6; flags --disabled-metrics, --etcd-count-metric-poll-period,
 * --etcd-db-metric-poll-interval
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Metric as PromMetric, Registry } from 'prom-client'
import { READ_ONLY, type RequestInfo } from '../schemas/request.js'
import { isLongRunning } from './request-kinds.js'
import { CounterFamily, GaugeFamily, HistogramFamily, LIMIT, type Counter, type Gauge, type Histogram, type Metric } from './metric-series.js'

export type { Counter, Gauge, Histogram, Metric } from './metric-series.js'

export interface Metrics {
  /** Declares a metric, or finds it when it is there already. Names and labels as in Prometheus. */
  counter: (name: string, help: string, labels?: readonly string[]) => Metric<Counter>
  gauge: (name: string, help: string, labels?: readonly string[]) => Metric<Gauge>
  histogram: (name: string, help: string, bounds: readonly number[], labels?: readonly string[]) => Metric<Histogram>
  /** Polls the number of stored objects of a resource (`clusterroles.rbac.authorization.orch.io`) into apiserver_storage_objects. */
  trackObjects: (resource: string, count: () => Promise<number>) => void
  /** Polls the size of a store, in bytes, into apiserver_storage_size_bytes. */
  trackStore: (name: string, status: () => Promise<{ size: number }>) => void
  /** All of it, as `/metrics` answers. */
  text: () => Promise<string>
}

export interface MetricsOptions {
  /** Names that are left out of the answer, `--disabled-metrics`. */
  disabled?: readonly string[]
  /** Milliseconds between counts of stored objects; 0 never counts. Default one minute. */
  countInterval?: number
  /** Milliseconds between readings of the store's size; 0 never reads. Default 30 seconds. */
  sizeInterval?: number
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const SUBJECT = ['group', 'version', 'resource', 'subresource', 'scope', 'component']

const VERBS = new Map(Object.entries({
  get: 'GET', list: 'LIST', watch: 'WATCH', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE', deletecollection: 'DELETECOLLECTION', proxy: 'CONNECT', post: 'POST', put: 'PUT', head: 'HEAD', options: 'OPTIONS'
}))

/** The verb label: a closed set whatever the client sent. */
const verbLabel = (verb: string): string => VERBS.get(verb) ?? 'other'

/** What part of the cluster a request was about. */
function scopeLabel (info: RequestInfo): string {
  if (info.name !== '') return 'resource'
  if (info.namespace !== '') return 'namespace'
  return info.isResourceRequest ? 'cluster' : ''
}

/** What a finished request moves, found once for requests alike. */
interface Series {
  readonly verb: string
  readonly dryRun: boolean
  readonly group: string
  readonly version: string
  readonly subresource: string
  readonly scope: string
  readonly codes: (code: number) => Counter
  readonly duration: Histogram
  readonly size: Histogram
}

type Family = CounterFamily | GaugeFamily | HistogramFamily

/** What a request that met no route is counted as. */
const NOTHING = { group: '', version: '', resource: '', subresource: '' }
/** The code of a request whose client left before an answer began. */
const GONE = 499

let processMetrics: Promise<Registry> | undefined

/** CPU, memory, event loop: facts of the process, whichever of its servers is asked. Loaded by the first scrape. */
function ofProcess (): Promise<Registry> {
  processMetrics ??= import('prom-client').then(({ Registry, collectDefaultMetrics }) => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })
    return registry
  })
  return processMetrics
}

async function metrics (fastify: FastifyInstance, options: MetricsOptions): Promise<void> {
  const { disabled = [], countInterval = 60_000, sizeInterval = 30_000 } = options
  const hidden = new Set(disabled)
  const families = new Map<string, Family>()
  let closed = false

  const declare = <T extends Family>(name: string, kind: new (...args: never[]) => T, create: () => T): T => {
    const known = families.get(name)
    if (known instanceof kind) return known
    if (known !== undefined) throw new TypeError(`metric ${name} is declared with another type`)
    const created = create()
    families.set(name, created)
    return created
  }

  const poll = (interval: number, read: () => Promise<void>): void => {
    if (interval <= 0) return
    const again = (): void => { if (!closed) setTimeout(once, interval).unref() }
    const once = (): void => {
      read().catch((error: unknown) => fastify.log.debug({ err: error }, 'a metric could not be read')).finally(again)
    }
    setImmediate(() => { if (!closed) once() }).unref()
  }

  const own: Metrics = {
    counter: (name, help, labels = []) => declare(name, CounterFamily, () => new CounterFamily(name, help, labels)),
    gauge: (name, help, labels = []) => declare(name, GaugeFamily, () => new GaugeFamily(name, help, labels)),
    histogram: (name, help, bounds, labels = []) => declare(name, HistogramFamily, () => new HistogramFamily(name, help, labels, bounds)),
    trackObjects: (resource, count) => {
      const gauge = own.gauge('apiserver_storage_objects', 'Objects in the store, by resource, when they were last counted.', ['resource']).with(resource)
      poll(countInterval, async () => gauge.set(await count()))
    },
    trackStore: (name, status) => {
      const gauge = own.gauge('apiserver_storage_size_bytes', 'Bytes the store occupies.', ['store']).with(name)
      poll(sizeInterval, async () => gauge.set((await status()).size))
    },
    text: async () => {
      const ofThisProcess = await ofProcess()
      const { Registry } = await import('prom-client')
      const registry = new Registry()
      // The registry asks a metric for its name and get() alone; its own classes would cost microseconds per request.
      for (const family of families.values()) registry.registerMetric(family as unknown as PromMetric)
      const shown = [registry, ofThisProcess].flatMap(one => one.getMetricsAsArray().map(({ name }) => [one, name] as const))
      const texts = await Promise.all(shown.filter(([, name]) => !hidden.has(name)).map(([one, name]) => one.getSingleMetricAsString(name)))
      return `${texts.join('\n\n')}\n`
    }
  }
  fastify.orch.metrics = own

  const requests = own.counter('apiserver_request_total', 'Requests answered, by verb, resource and response code.', ['verb', 'dry_run', ...SUBJECT, 'code'])
  const durations = own.histogram('apiserver_request_duration_seconds', 'Seconds from the arrival of a request to the end of its answer.', SECONDS, ['verb', 'dry_run', ...SUBJECT])
  const sizes = own.histogram('apiserver_response_sizes', 'Bytes of response bodies whose length is known beforehand.', BYTES, ['verb', ...SUBJECT])
  const running = own.gauge('apiserver_longrunning_requests', 'Watches and other long-running requests under way.', ['verb', ...SUBJECT])
  const inFlight = own.gauge('apiserver_current_inflight_requests', 'Requests under way that are not long-running.', ['request_kind'])
  const reading = inFlight.with('readOnly')
  const mutating = inFlight.with('mutating')

  // By resource, and then by comparing: a key of all of it would be a string made and hashed for each request.
  const cache = new Map<string, Series[]>()
  let cached = 0
  const seriesOf = (request: FastifyRequest, verb: string): Series => {
    const { info, dryRun } = request.orch
    const unknown = request.is404
    const { group, version, resource, subresource } = unknown ? NOTHING : info
    const scope = unknown ? '' : scopeLabel(info)
    let known = cache.get(resource)
    let series = known?.find(one => one.verb === verb && one.scope === scope && one.subresource === subresource &&
      one.group === group && one.version === version && one.dryRun === dryRun)
    if (series === undefined) {
      const subject = [group, version, resource, subresource, scope, 'apiserver']
      const dry = dryRun ? 'All' : ''
      const codes = new Map<number, Counter>()
      series = {
        verb,
        dryRun,
        group,
        version,
        subresource,
        scope,
        codes: code => {
          let counter = codes.get(code)
          if (counter === undefined) codes.set(code, counter = requests.with(verb, dry, ...subject, String(code)))
          return counter
        },
        duration: durations.with(verb, dry, ...subject),
        size: sizes.with(verb, ...subject)
      }
      if (cached < LIMIT) {
        if (known === undefined) cache.set(resource, known = [])
        known.push(series)
        cached++
      }
    }
    return series
  }

  const finish = (request: FastifyRequest, reply: FastifyReply, at: number): void => {
    const { info } = request.orch
    const { headersSent, statusCode } = reply.raw
    const series = seriesOf(request, info.verb === 'patch' && isApply(request) ? 'APPLY' : verbLabel(info.verb))
    series.codes(headersSent ? statusCode : GONE).add()
    if (isLongRunning(info)) return
    series.duration.observe((performance.now() - at) / 1000)
    const length = reply.getHeader('content-length')
    if (length !== undefined) series.size.observe(Number(length))
  }

  fastify.addHook('onRequest', (request, reply, done) => {
    const at = performance.now()
    const { info } = request.orch
    const current = !isLongRunning(info)
      ? READ_ONLY.has(info.verb) ? reading : mutating
      : request.is404
        ? undefined
        : running.with(verbLabel(info.verb), info.group, info.version, info.resource, info.subresource, scopeLabel(info), 'apiserver')
    current?.add(1)
    request.orch.onClosed(() => {
      current?.add(-1)
      finish(request, reply, at)
    })
    done()
  })
  fastify.get('/metrics', async (_request, reply) => {
    return await reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(await own.text())
  })
  fastify.addHook('onClose', (_instance, done) => {
    closed = true
    done()
  })
}

const isApply = (request: FastifyRequest): boolean => request.headers['content-type']?.startsWith('application/apply-patch+') === true

export default fp(metrics, { name: 'orch/metrics', fastify: '5.x', dependencies: ['orch/request-info'] })
