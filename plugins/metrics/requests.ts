/** Request metrics. Labels come from the parsed request, but only for served paths: unknown ones create no series. */
import type { FastifyReply } from 'fastify'
import type { ServedRequest } from '../../answers/request-context.js'
import { READ_ONLY, type RequestInfo } from '../../auth/request-info.js'
import { LIMIT, type Counter, type Histogram, type Metrics } from '../shared/metric-series.js'
import { isConnect, isLongRunning, isProbe } from '../shared/request-kinds.js'

/** Seconds. Include 1 and 30, the service-level objectives for single objects and lists. */
const SECONDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const SUBJECT = ['group', 'version', 'resource', 'subresource', 'scope', 'component']

/** deletecollection counts as DELETE; the scope label tells them apart. */
const VERBS = new Map(Object.entries({
  get: 'GET', list: 'LIST', watch: 'WATCH', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE',
  deletecollection: 'DELETE', proxy: 'CONNECT', post: 'POST', put: 'PUT', head: 'GET', options: 'OPTIONS'
}))

/** Labels of requests to unknown paths. */
const NOTHING = { group: '', version: '', resource: '', subresource: '' }
/** Status code if the client disconnected before the response. */
const CLIENT_CLOSED_REQUEST = 499
/** Status codes by which the server protects itself from overload. */
const SELF_DEFENCE: ReadonlySet<number> = new Set([429, 503, 504])

/** A closed set, whatever the client sends. */
const verbLabel = (info: RequestInfo): string => isConnect(info) ? 'CONNECT' : VERBS.get(info.verb) ?? 'other'

const isApply = (request: ServedRequest): boolean =>
  request.headers['content-type']?.startsWith('application/apply-patch+') === true

/** Returns resource, namespace, cluster or ''. */
function scopeLabel ({ name, namespace, verb, isResourceRequest }: RequestInfo): string {
  if (name !== '' || (isResourceRequest && verb === 'create')) return 'resource'
  if (namespace !== '') return 'namespace'
  return isResourceRequest ? 'cluster' : ''
}

/** The series of a request, cached for requests with the same labels. */
interface Series {
  readonly verb: string
  readonly dryRun: boolean
  readonly group: string
  readonly version: string
  readonly subresource: string
  readonly scope: string
  readonly codes: (code: number) => ReadonlyArray<Counter>
  readonly duration: Histogram
  readonly ownDuration: Histogram
  /** Reads only. */
  readonly size: Histogram | undefined
  readonly aborts: () => Counter
}

export interface RequestMetrics {
  /** Called when a request arrives. */
  readonly begin: (request: ServedRequest, reply: FastifyReply) => void
}

/** @param isServed true for served paths; only they get their own labels */
export function requestMetrics (own: Metrics, isServed: (request: ServedRequest) => boolean): RequestMetrics {
  const requests = own.counter(
    'apiserver_request_total',
    'Requests answered, by verb, dry run, group, version, resource, subresource, scope, component and response code.',
    ['verb', 'dry_run', ...SUBJECT, 'code']
  )
  const durations =
    own.histogram('apiserver_request_duration_seconds', 'Seconds from the arrival of a request to the end of its ' +
      'answer, by verb, dry run, group, version, resource, subresource, scope and component.', SECONDS, [
      'verb', 'dry_run', ...SUBJECT
    ])
  const ownDurations = own.histogram(
    'apiserver_request_slo_duration_seconds',
    'Seconds from the arrival of a request to the end of its answer without those that admission webhooks took, by ' +
      'verb, group, version, resource, subresource, scope and component.',
    SECONDS, ['verb', ...SUBJECT]
  )
  const sizes = own.histogram(
    'apiserver_response_sizes',
    'Bytes of the response bodies of reads whose length is known beforehand, by verb, group, version, resource, ' +
      'subresource, scope and component.',
    BYTES, ['verb', ...SUBJECT]
  )
  const running = own.gauge(
    'apiserver_longrunning_requests',
    'Watches and other long-running requests under way, by verb, group, version, resource, subresource, scope and ' +
      'component.',
    ['verb', ...SUBJECT]
  )
  const inFlight = own.gauge(
    'apiserver_current_inflight_requests', 'Requests under way that are not long-running, by kind.', ['request_kind']
  )
  const terminations =
    own.counter('apiserver_request_terminations_total', 'Requests that the server refused or ended to protect ' +
      'itself, by verb, group, version, resource, subresource, scope, component and response code.', [
      'verb', ...SUBJECT, 'code'
    ])
  const aborts = own.counter(
    'apiserver_request_aborts_total',
    'Requests that ended before an answer to them had begun, by verb, group, version, resource, subresource and scope.',
    ['verb', ...SUBJECT.slice(0, -1)]
  )
  const reading = inFlight.with('readOnly')
  const mutating = inFlight.with('mutating')

  const cache = new Map<string, Series[]>()
  let cached = 0
  const seriesOf = (request: ServedRequest, verb: string): Series => {
    const { info, dryRun } = request.orch
    const unknown = !isServed(request)
    const probe = !info.isResourceRequest && !unknown && isProbe(info.path)
    const { group, version, resource } = unknown ? NOTHING : info
    // As upstream, health paths are reported as the subresource.
    const subresource = unknown ? '' : probe ? `/${info.path.split('/')[1] ?? ''}` : info.subresource
    const scope = unknown ? '' : scopeLabel(info)
    let known = cache.get(resource)
    let series = known?.find(candidate => candidate.verb === verb && candidate.scope === scope &&
      candidate.subresource === subresource &&
      candidate.group === group && candidate.version === version && candidate.dryRun === dryRun)
    if (series === undefined) {
      const place = [group, version, resource, subresource, scope]
      const subject = [...place, probe ? '' : 'apiserver']
      const dry = dryRun ? 'All' : ''
      const codes = new Map<number, Counter[]>()
      series = {
        verb,
        dryRun,
        group,
        version,
        subresource,
        scope,
        codes: code => {
          let counters = codes.get(code)
          if (counters === undefined) {
            counters = [requests.with(verb, dry, ...subject, String(code))]
            if (SELF_DEFENCE.has(code)) counters.push(terminations.with(verb, ...subject, String(code)))
            codes.set(code, counters)
          }
          return counters
        },
        duration: durations.with(verb, dry, ...subject),
        ownDuration: ownDurations.with(verb, ...subject),
        size: verb === 'GET' || verb === 'LIST' ? sizes.with(verb, ...subject) : undefined,
        aborts: () => aborts.with(verb, ...place)
      }
      if (cached < LIMIT) {
        if (known === undefined) cache.set(resource, known = [])
        known.push(series)
        cached++
      }
    }
    return series
  }

  const finish = (request: ServedRequest, reply: FastifyReply): void => {
    const { info, trace: { startedAt, endedAt = performance.now() } } = request.orch
    const { headersSent, statusCode } = reply.raw
    const series = seriesOf(
      request, info.verb === 'patch' && isApply(request) && !isConnect(info) ? 'APPLY' : verbLabel(info)
    )
    for (const counter of series.codes(headersSent ? statusCode : CLIENT_CLOSED_REQUEST)) counter.add()
    if (!headersSent) series.aborts().add()
    if (isLongRunning(info)) return
    const seconds = (endedAt - startedAt) / 1000
    series.duration.observe(seconds)
    series.ownDuration.observe(Math.max(0, seconds - (request.orch.waited + request.orch.waitedTogether) / 1000))
    if (series.size === undefined) return
    const length = reply.getHeader('content-length')
    if (length !== undefined) series.size.observe(Number(length))
  }

  return {
    begin: (request, reply) => {
      const { info } = request.orch
      const current = !isLongRunning(info)
        ? READ_ONLY.has(info.verb) ? reading : mutating
        : !isServed(request)
            ? undefined
            : running.with(
                verbLabel(info), info.group, info.version, info.resource, info.subresource, scopeLabel(info),
                'apiserver'
              )
      current?.add(1)
      request.orch.onClosed(() => {
        current?.add(-1)
        finish(request, reply)
      })
    }
  }
}
