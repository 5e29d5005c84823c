/**
 * Measures `apiserver_request_filter_duration_seconds`. Registered before the first filter and after each one, with
 * that filter's name. A request that a filter rejects counts for the preceding filters, and for authentication.
 */
import { served } from '../answers/request-context.js'
import { plugin } from './shared/plugin.js'

export interface FilterTimesOptions {
  /** The filter that has just run; undefined before the first. */
  readonly behind?: 'authentication' | 'audit' | 'impersonation' | 'priorityandfairness' | 'authorization'
}

/** Milliseconds above which the audit event of a slow request says how long a filter took. */
const NOTABLE = 1
const SECONDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5]

export default plugin<FilterTimesOptions>()(async (fastify, { behind }) => {
  const durations = fastify.orchMetrics.histogram(
    'apiserver_request_filter_duration_seconds', 'Seconds that a request spent in a filter on its way, by filter.',
    SECONDS, ['filter']
  )
  if (behind === undefined) {
    const refused = durations.with('authentication')
    fastify.addHook('onRequest', (request, _reply, done) => {
      served(request).orch.filterSince = performance.now()
      done()
    })
    fastify.addHook('onError', (request, _reply, _error, done) => {
      const { filterSince: since = 0, user } = request.orch ?? {}
      if (since > 0 && user === undefined) refused.observe((performance.now() - since) / 1000)
      done()
    })
    return
  }
  const passed = durations.with(behind)
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { orch } = served(request)
    const now = performance.now()
    const milliseconds = now - orch.filterSince
    passed.observe(milliseconds / 1000)
    if (milliseconds > NOTABLE) (orch.filtered ??= []).push([behind, milliseconds])
    orch.filterSince = now
    done()
  })
}, { name: 'orch/filter-times', fastify: '5.x', decorators: { fastify: ['orchMetrics'], request: ['orch'] } })
