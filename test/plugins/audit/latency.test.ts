/** Annotations of slow requests. */
import t from 'tap'
import { latencies } from '../../../plugins/audit/latency.js'
import { Span, Trace } from '../../../registry/trace.js'

t.test('a slow request says what it waited for, and a fast one nothing', async t => {
  const trace = new Trace()
  const timed = { trace, waited: 20.5, waitedTogether: 0, filtered: undefined }
  t.equal(latencies(timed, trace.startedAt + 499), undefined)
  t.same(
    latencies(timed, trace.startedAt + 1500),
    { 'apiserver.latency.orch.io/total': '1.5s', 'apiserver.latency.orch.io/mutating-webhook': '20.5ms' }
  )
  trace.waited = 100
  t.match(
    latencies({ ...timed, waitedTogether: 300 }, trace.startedAt + 600),
    { 'apiserver.latency.orch.io/validating-webhook': '300ms', 'apiserver.latency.orch.io/apf-queue-wait': '100ms' }
  )
})

t.test('time in filters, in the store and in writing the answer', async t => {
  const trace = new Trace()
  for (const name of ['Get from storage', 'Store transaction', 'SerializeObject', 'Decode']) trace.start(name).end()
  trace.start('List from storage') // never ended
  trace.step('Done')
  const spans = trace.items?.filter(item => item instanceof Span && item.endedAt !== undefined) as Span[]
  spans.forEach((span, at) => { span.endedAt = span.startedAt + 100 * (at + 1) })
  const annotations = latencies(
    { trace, waited: 0, waitedTogether: 0, filtered: [['authentication', 250], ['authorization', 1.5], ['audit', 3]] },
    trace.startedAt + 2000
  )
  const of = (name: string): string =>
    (annotations?.[`apiserver.latency.orch.io/${name}`] ?? '').replace(/(\d+)\.\d+ms/, '$1ms')
  t.strictSame(
    Object.keys(annotations ?? {}).map(name => name.slice('apiserver.latency.orch.io/'.length)).sort(),
    ['authentication', 'authorization', 'etcd', 'serialize-response-object', 'total']
  )
  t.strictSame(
    [of('authentication'), of('authorization'), of('etcd'), of('serialize-response-object')],
    ['250ms', '1ms', '300ms', '300ms']
  )
})
