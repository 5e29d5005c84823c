/** Request metrics. Labels come from the parsed request, but only for served paths: unknown ones create no series. */
import type { FastifyReply } from 'fastify'
import type { ServedRequest } from '../../answers/request-context.js'
import { READ_ONLY, scopeLabel, type RequestInfo } from '../../auth/request-info.js'
import type { Metrics } from '../shared/metric-series.js'
import { isConnect, isLongRunning, isProbe } from '../shared/request-kinds.js'
import { declareRequestSeries, SeriesCache, type Labels } from './request-series.js'

/** deletecollection counts as DELETE; the scope label tells them apart. */
const VERBS = new Map(Object.entries({
  get: 'GET', list: 'LIST', watch: 'WATCH', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE',
  deletecollection: 'DELETE', proxy: 'CONNECT', post: 'POST', put: 'PUT', head: 'GET', options: 'OPTIONS'
}))

/** Labels of requests to unknown paths. */
const NOTHING = { group: '', version: '', resource: '', subresource: '' }
/** Status code if the client disconnected before the response. */
const CLIENT_CLOSED_REQUEST = 499
/** A closed set, whatever the client sends. */
const verbLabel = (info: RequestInfo): string => isConnect(info) ? 'CONNECT' : VERBS.get(info.verb) ?? 'other'

const isApply = (request: ServedRequest): boolean =>
  request.headers['content-type']?.startsWith('application/apply-patch+') === true

/** Of requests to unknown paths, nothing but the verb. */
function labelsOf ({ orch: { info, dryRun } }: ServedRequest, verb: string, isServed: boolean): Labels {
  if (!isServed) return { verb, dryRun, ...NOTHING, scope: '', component: 'apiserver' }
  const { group, version, resource } = info
  const probe = !info.isResourceRequest && isProbe(info.path)
  // As upstream, health paths are reported as the subresource.
  const subresource = probe ? `/${info.path.split('/')[1] ?? ''}` : info.subresource
  const component = probe ? '' : 'apiserver'
  return { verb, dryRun, group, version, resource, subresource, scope: scopeLabel(info), component }
}

export interface RequestMetrics {
  /** Called when a request arrives. */
  readonly begin: (request: ServedRequest, reply: FastifyReply) => void
}

/** @param isServed true for served paths; only they get their own labels */
export function requestMetrics (
  own: Metrics, isServed: (request: ServedRequest) => boolean, isLater: boolean
): RequestMetrics {
  const declared = declareRequestSeries(own, isLater)
  const cache = new SeriesCache(declared)
  const reading = declared.inFlight.with('readOnly')
  const mutating = declared.inFlight.with('mutating')

  const finish = (request: ServedRequest, reply: FastifyReply): void => {
    const { info, trace: { startedAt, endedAt = performance.now() } } = request.orch
    const { headersSent, statusCode } = reply.raw
    const verb = info.verb === 'patch' && isApply(request) && !isConnect(info) ? 'APPLY' : verbLabel(info)
    const series = cache.of(labelsOf(request, verb, isServed(request)))
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

  /** The gauge that counts the request while it runs; no gauge counts long-running requests to unknown paths. */
  const currentOf = (request: ServedRequest) => {
    const { info } = request.orch
    if (!isLongRunning(info)) return READ_ONLY.has(info.verb) ? reading : mutating
    if (!isServed(request)) return undefined
    const { group, version, resource, subresource } = info
    return declared.running.with(verbLabel(info), group, version, resource, subresource, scopeLabel(info), 'apiserver')
  }

  return {
    begin: (request, reply) => {
      const current = currentOf(request)
      current?.add(1)
      request.orch.onClosed(() => {
        current?.add(-1)
        finish(request, reply)
      })
    }
  }
}
