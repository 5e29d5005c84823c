/**
 * How long each step took on a request's way to its route, `apiserver_request_filter_duration_seconds`. It is registered before the first
 * step and behind each, with the name of that one; who is refused by a step is counted for those before, and for authentication.
 */
import fp from 'fastify-plugin'

export interface FilterTimesOptions {
  /** The step that has just ended. None where the first begins. */
  readonly behind?: 'authentication' | 'audit' | 'impersonation' | 'priorityandfairness' | 'authorization'
}

const SECONDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5]

export default fp<FilterTimesOptions>(async (fastify, { behind }) => {
  const durations = fastify.orch.metrics.histogram('apiserver_request_filter_duration_seconds', 'Seconds that a request spent in a filter on its way, by filter.', SECONDS, ['filter'])
  if (behind === undefined) {
    const refused = durations.with('authentication')
    fastify.addHook('onRequest', (request, _reply, done) => {
      request.orch.filterSince = performance.now()
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
  fastify.addHook('onRequest', ({ orch }, _reply, done) => {
    const now = performance.now()
    passed.observe((now - orch.filterSince) / 1000)
    orch.filterSince = now
    done()
  })
}, { name: 'orch/filter-times', fastify: '5.x', dependencies: ['orch/metrics'] })
