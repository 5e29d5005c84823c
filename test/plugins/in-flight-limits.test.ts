import t from 'tap'
import fp from 'fastify-plugin'
import inFlightLimits, { kindOf, type InFlightOptions } from '../../plugins/in-flight-limits.js'
import metrics from '../../plugins/metrics/index.js'
import type { RequestInfo } from '../../auth/request-info.js'
import { ALICE, bareServer, clusterRoles, type Test } from './bare-server.js'

const VERBS: Record<string, string> = { GET: 'list', POST: 'create', DELETE: 'delete' }

async function build (test: Test, options: InFlightOptions) {
  const fastify = await bareServer({
    info: ({ method, url }) => clusterRoles({ verb: url.includes('watch') ? 'watch' : VERBS[method] ?? '' })
  })
  await fastify.register(fp(async () => {}, { name: 'orch/impersonation' }))
  await fastify.register(metrics)
  await fastify.register(inFlightLimits, options)
  const waiting: Array<() => void> = []
  const answers: Array<Promise<unknown>> = []
  let arrived = (): void => {}
  fastify.route({
    method: ['GET', 'POST'],
    url: '/held',
    handler: async () => {
      await new Promise<void>(resolve => { waiting.push(resolve); arrived() })
      return 'done'
    }
  })
  fastify.route({ method: ['GET', 'POST'], url: '/quick', handler: async () => 'done' })
  test.teardown(() => fastify.close())
  return {
    fastify,
    /** Starts a request; resolves when its handler holds it. */
    hold: async (method: 'GET' | 'POST', query = '') => {
      const arrival = new Promise<void>(resolve => { arrived = resolve })
      const answer = fastify.inject({ method, url: `/held${query}` })
      await arrival
      answers.push(answer)
    },
    /** Releases all of them; resolves when they have been answered. */
    release: async () => {
      for (const resolve of waiting.splice(0)) resolve()
      await Promise.all(answers.splice(0))
      await new Promise(resolve => setImmediate(resolve))
    }
  }
}

t.test('reads over the limit are refused, and writes are counted apart', async t => {
  const { fastify, hold, release } = await build(t, { reading: 1, mutating: 1 })
  await hold('GET')
  const refused = await fastify.inject('/quick')
  t.equal(refused.statusCode, 429)
  t.equal(refused.json().reason, 'TooManyRequests')
  t.equal(refused.headers['retry-after'], '1')
  t.equal((await fastify.inject({ method: 'POST', url: '/quick' })).statusCode, 200)
  const text = (await fastify.orchMetrics.exposition()).toString()
  t.match(text, 'apiserver_dropped_requests_total{request_kind="readOnly"} 1')
  await release()
  t.equal((await fastify.inject('/quick')).statusCode, 200, 'a finished request makes room')
  for (let index = 0; index < 5; index++) t.equal((await fastify.inject('/quick')).statusCode, 200)
})

t.test('a refused request does not use up the limit', async t => {
  const { fastify, hold, release } = await build(t, { reading: 1 })
  await hold('GET')
  for (let index = 0; index < 5; index++) t.equal((await fastify.inject('/quick')).statusCode, 429)
  await release()
  t.equal((await fastify.inject('/quick')).statusCode, 200)
})

t.test('0 is no limit', async t => {
  const { fastify, hold, release } = await build(t, { reading: 0 })
  for (let index = 0; index < 20; index++) await hold('GET')
  t.equal((await fastify.inject('/quick')).statusCode, 200)
  await release()
})

t.test('watches are not counted', async t => {
  const { fastify, hold, release } = await build(t, { reading: 1 })
  for (let index = 0; index < 5; index++) await hold('GET', '?watch')
  t.equal((await fastify.inject('/quick')).statusCode, 200)
  await release()
})

t.test('the kind of a request follows from its verb and its user', async t => {
  const info = (more: Partial<RequestInfo>): RequestInfo => ({
    path: '/', isResourceRequest: true, verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '',
    namespace: '', name: '', ...more
  })
  for (const verb of ['get', 'list']) t.equal(kindOf(info({ verb }), ALICE), 'readOnly')
  for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection']) {
    t.equal(kindOf(info({ verb }), ALICE), 'mutating')
  }
  t.equal(kindOf(info({ verb: 'watch' }), ALICE), undefined)
  for (const subresource of ['attach', 'exec', 'log', 'portforward', 'proxy']) {
    t.equal(
      kindOf(info({ group: 'apps', subresource, verb: 'create' }), ALICE), 'mutating', 'a name makes nothing long'
    )
    t.equal(
      kindOf(info({ group: 'example.org', subresource, verb: 'create' }), ALICE), undefined,
      'but an extension server may have a connection of that name'
    )
    t.equal(
      kindOf(info({ group: '', resource: 'pods', subresource, verb: 'create' }), ALICE), undefined,
      'a connection to a pod lasts'
    )
  }
  t.equal(
    kindOf(info({ verb: 'delete' }), { ...ALICE, groups: ['system:masters'] }), undefined,
    'administrators get in to mend it'
  )
  t.equal(kindOf(info({ isResourceRequest: false, path: '/readyz' }), undefined), undefined, 'probes are answered')
  t.equal(kindOf(info({ isResourceRequest: false, path: '/readyzz' }), undefined), 'readOnly')
})
