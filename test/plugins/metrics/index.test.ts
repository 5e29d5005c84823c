import t from 'tap'
import metrics, { type MetricsOptions } from '../../../plugins/metrics/index.js'
import { LIMIT } from '../../../plugins/shared/metric-series.js'
import { tooManyRequests } from '../../../schemas/status.js'
import { bareServer, clusterRoles, type BareOptions, type Test } from '../bare-server.js'

async function build (test: Test, options: MetricsOptions = {}, bare: BareOptions = {}) {
  const fastify = await bareServer(bare)
  await fastify.register(metrics, options)
  test.teardown(() => fastify.close())
  const lines = async (name: string): Promise<string[]> =>
    (await fastify.inject('/metrics')).body.split('\n').filter(line => line.startsWith(name))
  return { fastify, lines }
}

t.test('a number that is not there yet is spelt as the format spells it', async t => {
  const { lines } = await build(t)
  // A scrape starts the measurement of the event loop again, which has a sample after 20 ms.
  let lag = await lines('nodejs_eventloop_lag')
  for (let scrapes = 1; scrapes < 1000 && !lag.some(line => / nan$/i.test(line)); scrapes++) {
    lag = await lines('nodejs_eventloop_lag')
  }
  t.match(lag.filter(line => / nan$/i.test(line)), [/^nodejs_eventloop_lag_mean_seconds NaN$/, / NaN$/])
  t.strictSame(lag.filter(line => !/ (?:[\d.e+-]+|NaN)$/.test(line)), [])
})

t.test('a request is counted with its verb, resource and code, and timed', async t => {
  const { fastify, lines } = await build(t, {}, {
    info: ({ method, url }) =>
      url.startsWith('/apis') ? clusterRoles({ verb: method === 'GET' ? 'list' : 'create' }) : {}
  })
  fastify.get('/apis/x', async () => 'a list')
  fastify.post('/apis/x', async () => { throw tooManyRequests('busy', 1) })
  await fastify.inject('/apis/x')
  await fastify.inject('/apis/x')
  await fastify.inject({ method: 'POST', url: '/apis/x' })
  const subject = (scope: string): string =>
    `group="rbac.authorization.orch.io",version="v1",resource="clusterroles",subresource="",scope="${scope}",` +
    'component="apiserver"'
  t.strictSame((await lines('apiserver_request_total{')).filter(line => line.includes('clusterroles')), [
    `apiserver_request_total{verb="LIST",dry_run="",${subject('cluster')},code="200"} 2`,
    `apiserver_request_total{verb="POST",dry_run="",${subject('resource')},code="429"} 1`
  ])
  t.match(await lines('apiserver_request_duration_seconds_count{verb="LIST"'), [/ 2$/])
  t.match(await lines('apiserver_response_sizes_sum{verb="LIST"'), [/ 12$/])
  const buckets = (await lines('apiserver_request_duration_seconds_bucket{')).filter(line => line.includes('LIST'))
  t.match(buckets.at(-1), /le="\+Inf".* 2$/)
})

t.test('a deletion is DELETE whatever its scope, and HEAD is what GET is', async t => {
  const { fastify, lines } = await build(
    t,
    {},
    {
      info: ({ method, url }) =>
        url.startsWith('/apis') ? clusterRoles({ verb: method === 'DELETE' ? 'deletecollection' : 'list' }) : {}
    }
  )
  fastify.delete('/apis/x', async () => 'gone')
  fastify.get('/other', async () => 'there')
  await fastify.inject({ method: 'DELETE', url: '/apis/x' })
  await fastify.inject({ method: 'HEAD', url: '/other' })
  const counted = (await lines('apiserver_request_total{')).map(line =>
    /verb="(\w+)".*,resource="(\w*)".*,scope="(\w*)".*code="(\w+)"/.exec(line)?.slice(1).join(' '))
  t.strictSame(counted, ['DELETE clusterroles cluster 200', 'GET   200'])
})

t.test('labels that may have certain values have no others', async t => {
  const allowedLabels = new Map([
    ['apiserver_request_total,verb', ['LIST']], ['apiserver_request_total,code', ['200', '429']]
  ])
  const { fastify, lines } = await build(
    t, { allowedLabels }, { info: ({ method }) => clusterRoles({ verb: method === 'GET' ? 'list' : 'create' }) }
  )
  fastify.get('/apis/x', async () => 'a list')
  fastify.post('/apis/x', async () => { throw tooManyRequests('busy', 1) })
  fastify.put('/apis/x', async () => 'changed')
  for (const method of ['GET', 'POST', 'PUT', 'POST'] as const) await fastify.inject({ method, url: '/apis/x' })
  const counted = (await lines('apiserver_request_total{')).map(line =>
    /verb="(\w+)".*code="(\w+)"\} (\d+)/.exec(line)?.slice(1).join(' '))
  t.strictSame(counted.sort(), ['LIST 200 1', 'unexpected 200 1', 'unexpected 429 2'])
  t.match(await lines('apiserver_request_duration_seconds_count{verb="POST"'), [/ 3$/], 'other metrics keep theirs')
})

t.test('paths and methods that the server does not know make no series', async t => {
  const { fastify, lines } = await build(
    t, {}, { info: ({ url }) => clusterRoles({ resource: url.slice(1), verb: 'get', name: url }) }
  )
  await fastify.ready()
  for (let index = 0; index < 50; index++) await fastify.inject(`/made-up-${index}`)
  const counted = await lines('apiserver_request_total{')
  t.strictSame(counted.filter(line => line.includes('made-up')), [])
  t.match(counted, [/^apiserver_request_total\{verb="GET",.*resource="",.*code="404"\} 50$/])
})

t.test('watches are a gauge while they last, and are not timed', async t => {
  const { fastify, lines } = await build(
    t, {}, { info: ({ url }) => url.startsWith('/apis') ? clusterRoles({ verb: 'watch' }) : {} }
  )
  let release = (): void => {}
  let arrived = (): void => {}
  const arrival = new Promise<void>(resolve => { arrived = resolve })
  fastify.get('/apis/x', async () => {
    arrived()
    await new Promise<void>(resolve => { release = resolve })
    return ''
  })
  const watch = fastify.inject('/apis/x')
  await arrival
  t.match(await lines('apiserver_longrunning_requests{'), [/verb="WATCH".* 1$/])
  t.match(
    await lines('apiserver_current_inflight_requests{request_kind="readOnly"}'), [/ 1$/], 'that is the scrape itself'
  )
  release()
  await watch
  t.match(await lines('apiserver_longrunning_requests{'), [/verb="WATCH".* 0$/])
  t.match((await lines('apiserver_request_duration_seconds_count{verb="WATCH"')), [/ 0$/])
})

t.test('the process is described', async t => {
  const { lines } = await build(t)
  t.match(await lines('process_resident_memory_bytes'), [/ \d+$/])
  t.match(await lines('process_cpu_seconds_total'), [/ [\d.]+$/])
})

t.test('a disabled metric is omitted', async t => {
  const { fastify, lines } = await build(t, { disabled: ['apiserver_request_total', 'process_resident_memory_bytes'] })
  await fastify.inject('/metrics')
  t.strictSame(await lines('apiserver_request_total'), [])
  t.strictSame(await lines('process_resident_memory_bytes'), [])
  t.not((await lines('apiserver_request_duration_seconds')).length, 0)
})

t.test('two servers in a process count apart', async t => {
  const first = await build(t)
  const second = await build(t)
  first.fastify.orchMetrics.counter('mine_total', 'Mine.').with().add(3)
  second.fastify.orchMetrics.counter('mine_total', 'Mine.').with().add(4)
  t.strictSame(await first.lines('mine_total'), ['mine_total 3'])
  t.strictSame(await second.lines('mine_total'), ['mine_total 4'])
})

t.test('a metric is declared once under one type, its label values escaped', async t => {
  const { fastify, lines } = await build(t)
  const { orchMetrics: metrics } = fastify
  metrics.gauge('depth', 'How deep.', ['at']).with('a"b\nc').set(7)
  t.equal(
    metrics.gauge('depth', 'How deep.', ['at']).with('a"b\nc'),
    metrics.gauge('depth', 'How deep.', ['at']).with('a"b\nc')
  )
  t.throws(() => metrics.counter('depth', 'How deep.'), /depth/)
  t.throws(() => metrics.gauge('depth', 'How deep.').with(), /depth/)
  t.strictSame(await lines('depth'), ['depth{at="a\\"b\\nc"} 7'])
})

t.test('a metric that is fed with ever new labels stops growing', async t => {
  const { fastify, lines } = await build(t)
  const counter = fastify.orchMetrics.counter('fed_total', 'Fed.', ['by'])
  for (let index = 0; index < LIMIT + 500; index++) counter.with(`client ${index}`).add()
  const fed = await lines('fed_total')
  t.equal(fed.length, LIMIT + 1)
  t.ok(fed.includes('fed_total{by="other"} 500'))
})

t.test('objects and sizes are polled, and a failing reading spoils nothing', async t => {
  const { fastify, lines } = await build(t, { countInterval: 5, sizeInterval: 5 })
  const awake = setInterval(() => {}, 1000) // polling alone never keeps a process alive
  t.teardown(() => clearInterval(awake))
  let asked = 0
  const twice = new Promise<void>(resolve => {
    fastify.orchMetrics.trackObjects({ group: '', plural: 'clusterroles' }, async () => {
      asked++
      if (asked === 1) throw new Error('not yet')
      resolve()
      return 12
    })
  })
  fastify.orchMetrics.trackStore('embedded', async () => ({ size: 4096 }))
  await twice
  t.strictSame(await lines('apiserver_storage_objects{'), ['apiserver_storage_objects{resource="clusterroles"} 12'])
  t.strictSame(await lines('apiserver_storage_size_bytes{'), ['apiserver_storage_size_bytes{store="embedded"} 4096'])
})

t.test('each scrape has what was counted until then, whatever was scraped before', async t => {
  const { fastify, lines } = await build(t)
  const { orchMetrics: metrics } = fastify
  const [counter, gauge, seconds] = [
    metrics.counter('kept_total', 'Kept.', ['of']), metrics.gauge('kept', 'Kept.'),
    metrics.histogram('kept_seconds', 'Kept.', [1, 2])
  ]
  counter.with('a').add()
  gauge.with().set(3)
  seconds.with().observe(1.5)
  const first = await lines('kept')
  t.strictSame(await lines('kept'), first)
  counter.with('b').add(2)
  gauge.with().set(-0.5)
  seconds.with().observe(0.5, 2)
  t.strictSame(await lines('kept'), [
    'kept_total{of="a"} 1', 'kept_total{of="b"} 2', 'kept -0.5', 'kept_seconds_bucket{le="1"} 2',
    'kept_seconds_bucket{le="2"} 3', 'kept_seconds_bucket{le="+Inf"} 3', 'kept_seconds_sum 2.5', 'kept_seconds_count 3'
  ])
  gauge.with().set(Infinity)
  t.strictSame(await lines('kept '), ['kept +Inf'])
})
