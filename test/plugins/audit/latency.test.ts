/** Annotations of slow requests. */
import t from 'tap'
import { latencies } from '../../../plugins/audit/latency.js'
import { Trace } from '../../../registry/trace.js'

t.test('a slow request says what it waited for, and a fast one nothing', async t => {
  const trace = new Trace()
  const timed = { trace, waited: 20.5, waitedTogether: 0 }
  t.equal(latencies(timed, trace.startedAt + 500), undefined)
  t.same(latencies(timed, trace.startedAt + 1500), { 'apiserver.latency.orch.io/total': '1.5s', 'apiserver.latency.orch.io/mutating-webhook': '20.5ms' })
  trace.waited = 100
  t.match(latencies({ ...timed, waitedTogether: 300 }, trace.startedAt + 600), { 'apiserver.latency.orch.io/validating-webhook': '300ms', 'apiserver.latency.orch.io/apf-queue-wait': '100ms' })
})
