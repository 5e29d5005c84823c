/** Events that change each metric, through whole servers. */
import t from 'tap'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { ClientError } from '../../clients/errors.js'
import metrics from '../../plugins/metrics/index.js'
import { reviewMetrics } from '../../plugins/shared/review-metrics.js'
import { build, listen, type Client } from '../build.js'
import { allow, configure, hookServer, VALIDATING, webhook } from '../admission/webhooks/hook-server.js'
import { bareServer } from './bare-server.js'
import { polled } from '../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

const value = async (server: Pick<Client, 'get'>, series: RegExp): Promise<number> =>
  Number(new RegExp(`^${series.source} (.*)$`, 'm').exec((await server.get('/metrics')).body)?.[1] ?? NaN)

t.test('the time of webhooks is not part of the server\'s own latency', async t => {
  const server = await build(t)
  const hook = await hookServer(t)
  let began = 0
  let least = Infinity
  hook.answer = async (...review) => {
    began = performance.now()
    while (performance.now() - began < 60) await new Promise(resolve => { setTimeout(resolve, 10) })
    least = Math.min(least, performance.now() - began)
    return allow(...review)
  }
  await configure(server, VALIDATING, 'slow', webhook('slow', hook))
  t.equal((await server.post(CONFIGS, { metadata: { name: 'one' } })).code, 201)
  const of =
    /\{verb="POST",(?:dry_run="",)?group="",version="v1",resource="configmaps",subresource="",scope="resource",component="apiserver"\}/.source
  const all = await value(server, new RegExp(`apiserver_request_duration_seconds_sum${of}`))
  const own = await value(server, new RegExp(`apiserver_request_slo_duration_seconds_sum${of}`))
  t.ok(own >= 0 && all - own >= least / 1000, `${own} of ${all} s, ${least} ms of which were the webhook's`)
})

t.test('a request whose client disconnected is counted as aborted', async t => {
  let arrived = (): void => {}
  const arrival = new Promise<void>(resolve => { arrived = resolve })
  const server = await listen(t, {
    authorization: {
      authorizers: [
        {
          name: 'slow',
          authorize: ({ info }) => info.name === 'held' ? new Promise(() => { arrived() }) : { decision: 'Allow' }
        }
      ]
    }
  })
  const gone = httpRequest(`${server.url}${CONFIGS}/held`, { agent: false })
  gone.on('error', () => {})
  gone.end()
  await arrival
  gone.destroy()
  const aborted =
    /apiserver_request_aborts_total\{verb="GET",group="",version="v1",resource="configmaps",subresource="",scope="resource"\}/
  await polled(async () => await value(server, aborted) === 1)
  t.pass('it was counted')
})

t.test('requests that are refused for want of room are counted as terminated', async t => {
  let arrived = (): void => {}
  let go = (): void => {}
  const arrival = new Promise<void>(resolve => { arrived = resolve })
  const hold = new Promise<void>(resolve => { go = resolve })
  const server = await build(t, {
    limits: { maxRequestsInflight: 1 },
    authorization: {
      authorizers: [
        {
          name: 'slow',
          authorize: async ({ info }) => {
            if (info.name === 'held') { arrived(); await hold }
            return { decision: 'Allow' }
          }
        }
      ]
    }
  })
  const held = server.get(`${CONFIGS}/held`)
  await arrival
  t.equal((await server.get(CONFIGS)).code, 429)
  go()
  await held
  t.equal(
    await value(
      server,
      /apiserver_request_terminations_total\{verb="LIST",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver",code="429"\}/
    ),
    1
  )
})

t.test('metrics label health probes with their paths', async t => {
  const server = await build(t)
  await server.get('/livez/ping')
  t.equal(
    await value(
      server,
      /apiserver_request_total\{verb="GET",dry_run="",group="",version="",resource="",subresource="\/livez",scope="",component="",code="200"\}/
    ),
    1
  )
})

t.test('work queues of controllers have metrics', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'more' } })
  for (const metric of [
    'workqueue_adds_total', 'workqueue_queue_duration_seconds_count', 'workqueue_work_duration_seconds_count'
  ]) {
    await polled(async () => await value(server, new RegExp(`${metric}\\{name="namespace_defaults"\\}`)) > 0)
    t.pass(metric)
  }
})

t.test('questions to other services are counted by what they answer', async t => {
  const fastify = await bareServer()
  t.teardown(() => fastify.close())
  await fastify.register(metrics)
  const timed = reviewMetrics(fastify.orchMetrics, 'authz')
  t.equal(await timed(Promise.resolve('yes')), 'yes')
  await t.rejects(timed(Promise.reject(new ClientError('BadStatus', 'it said no', { status: 503 }))), /it said no/)
  await t.rejects(timed(Promise.reject(new ClientError('Unreachable', 'it is away'))), /it is away/)
  const { body } = await fastify.inject('/metrics')
  for (const code of ['200', '503', '<error>']) {
    t.match(body, `apiserver_delegated_authz_request_total{code="${code}"} 1`)
    t.match(body, `apiserver_delegated_authz_request_duration_seconds_count{code="${code}"} 1`)
  }
})

t.test('a scrape over a connection is text of version 0.0.4', async t => {
  const server = await listen(t, {})
  const asked = httpRequest(`${server.url}/metrics`, { agent: false })
  asked.end()
  const [response] = await once(asked, 'response') as [import('node:http').IncomingMessage]
  response.resume()
  await once(response, 'end')
  t.equal(response.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
})
