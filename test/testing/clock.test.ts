import t from 'tap'
import { readFileSync } from 'node:fs'
import { MovableClock } from '../../testing/clock.js'
import { testServer, type TestServer, type TestServerOptions } from '../../testing/index.js'
import { TABLE, Watch, type Json, type Test } from '../build.js'
import { REQUEST } from '../certificate-requests.js'

const START = new Date('2030-01-01T00:00:00Z')
const CONFIGS = '/api/v1/namespaces/default/configmaps'
const EVENTS = '/api/v1/namespaces/default/events'
const SITES = {
  apiVersion: 'apiextensions.orch.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'sites.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'sites', kind: 'Site' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  }
}

async function held (t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer({ now: START, ...options })
  t.teardown(() => server.dispose())
  return server
}

async function call (
  server: TestServer, method: string, path: string, body?: object, headers: Record<string, string> = {}
): Promise<{ code: number, json: Json }> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { code: response.status, json: await response.json() as Json }
}

t.test('timestamps are those of the clock', async t => {
  const server = await held(t)
  const { json } = await call(server, 'POST', CONFIGS, { metadata: { name: 'a', finalizers: ['example.com/wait'] } })
  t.equal(json['metadata'].creationTimestamp, '2030-01-01T00:00:00Z')
  await server.clock.move('26h')
  t.match(
    (await call(server, 'GET', `${CONFIGS}/a`, undefined, { accept: TABLE })).json['rows'][0].cells, ['a', 0, '26h']
  )
  t.equal((await call(server, 'DELETE', `${CONFIGS}/a`)).json['metadata'].deletionTimestamp, '2030-01-02T02:00:00Z')
  t.match(
    (await call(
      server, 'PATCH', `${CONFIGS}/a`, { data: { a: 'b' } }, { 'content-type': 'application/merge-patch+json' }
    )).json['metadata'].managedFields[0].time,
    '2030-01-02T02:00:00Z'
  )
  t.equal([...server.exchanges].at(-1)?.at, Date.parse('2030-01-02T02:00:00Z'))
})

t.test('audit events and conditions that the server sets have the time of the clock', async t => {
  const path = `${t.testdir()}/audit.log`
  const server = await held(t, { server: { audit: { path } } })
  const first = (object: Json): string => object['status'].conditions.at(-1).lastTransitionTime as string
  const service = (await call(server, 'GET', '/apis/apiregistration.orch.io/v1/apiservices/v1.')).json
  t.equal(first(service), '2030-01-01T00:00:00Z')

  await server.clock.move('3h')
  const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  await server.load([
    SITES,
    {
      apiVersion: 'example.com/v1',
      kind: 'Site',
      metadata: { name: 'home', namespace: 'default', finalizers: ['example.com/wait'] }
    }
  ])
  t.match(
    (await call(server, 'DELETE', `${definitions}/sites.example.com`)).json['status'].conditions.at(-1),
    { type: 'Terminating', lastTransitionTime: '2030-01-01T03:00:00Z' }
  )

  const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const { json } = await call(server, 'POST', requests, {
    metadata: { name: 'ann' }, spec: { signerName: 'example.com/any', usages: ['client auth'], request: REQUEST }
  })
  await server.clock.move('1h')
  const approved = await call(server, 'PUT', `${requests}/ann/approval`, {
    ...json, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test' }] }
  })
  t.match(approved.json['status'].conditions, [
    { lastUpdateTime: '2030-01-01T04:00:00Z', lastTransitionTime: '2030-01-01T04:00:00Z' }
  ])

  await server.dispose()
  const events = readFileSync(path, 'utf8').trim().split('\n').map(line => JSON.parse(line) as Json)
  const times = (uri: string): string[] => events.filter(({ requestURI }) => requestURI === uri).flatMap(
    ({ requestReceivedTimestamp: received, stageTimestamp: at }) => [received as string, at as string]
  )
  t.strictSame(times('/apis/apiregistration.orch.io/v1/apiservices/v1.'), Array(4).fill('2030-01-01T00:00:00.000000Z'))
  t.strictSame(times(`${requests}/ann/approval`), Array(4).fill('2030-01-01T04:00:00.000000Z'))
})

t.test('limits of rates recover with the clock', async t => {
  const value = {
    kind: 'Configuration',
    apiVersion: 'eventratelimit.admission.orch.io/v1alpha1',
    limits: [{ type: 'Server', qps: 1, burst: 1 }]
  }
  const server = await held(t, {
    server: { admission: { enabled: ['EventRateLimit'], configuration: { EventRateLimit: { value } } } }
  })
  const send = async (): Promise<number> => (await call(server, 'POST', EVENTS, {
    metadata: { generateName: 'e' }, involvedObject: { namespace: 'default' }
  })).code
  t.strictSame([await send(), await send()], [201, 429])
  await server.clock.move('1s')
  t.strictSame([await send(), await send()], [201, 429])
})

t.test('objects with a lifetime expire when it has passed, not before', async t => {
  const server = await held(t)
  t.equal(
    (await call(server, 'POST', EVENTS, { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } })).code,
    201
  )
  const watch = await Watch.open(t, `${server.url}${EVENTS}?watch=1&timeoutSeconds=9000`)
  await watch.take(1)
  await server.clock.move('59m')
  t.equal((await call(server, 'GET', `${EVENTS}/e`)).code, 200)
  await server.clock.move('2m')
  t.equal((await call(server, 'GET', `${EVENTS}/e`)).code, 404)
  t.equal((await watch.take(2))[1]?.type, 'DELETED')
})

t.test('tokens of service accounts expire', async t => {
  const server = await held(t, { server: { authentication: { serviceAccounts: {} } } })
  await server.load({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } })
  const { json: { status } } = await call(
    server, 'POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: { expirationSeconds: 3600 } }
  )
  t.equal(status.expirationTimestamp, '2030-01-01T01:00:00Z')
  const authorization = `Bearer ${status.token as string}`
  const review = async (): Promise<number> => (await call(server, 'GET', CONFIGS, undefined, { authorization })).code
  t.equal(await review(), 200)
  await server.clock.move('55m')
  t.equal(await review(), 200)
  await server.clock.move('10m')
  t.equal(await review(), 401)
})

t.test('watches get bookmarks, and end at their timeout', async t => {
  const server = await held(t)
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=600`)
  const count = (): number => watch.events.filter(({ type }) => type === 'BOOKMARK').length
  t.equal(count(), 0)
  await server.clock.move('2m')
  await watch.until(() => count() > 0)
  await server.clock.move('7m')
  t.notOk(watch.ended)
  await server.clock.move('90s')
  await watch.until(() => watch.ended)
  t.equal((await server.exchanges.next({ verb: 'watch' })).ended, true)
})

t.test('a clock is held at a whole millisecond, so that times differ by exactly what it was moved', t => {
  for (let at = 0; at < 50; at++) {
    const clock = new MovableClock(0.1 * at, at % 2 === 0)
    clock.hold()
    const before = clock.elapsed()
    t.equal(before, Math.ceil(before))
    clock.close()
  }
  t.end()
})

t.test('a held clock does not advance; a running one continues from the time it was moved to', async t => {
  const server = await held(t)
  const before = server.clock.now()
  await new Promise(resolve => { setTimeout(resolve, 20) })
  t.strictSame([server.clock.now(), server.clock.held], [before, true])
  t.equal(before.getTime(), START.getTime())
  server.clock.run()
  await server.clock.move('24h')
  t.notOk(server.clock.held)
  const moved = server.clock.now().getTime()
  t.ok(moved >= START.getTime() + 86_400_000)
  while (server.clock.now().getTime() === moved) await new Promise(resolve => { setTimeout(resolve, 1) })
  t.equal((await call(server, 'GET', `${CONFIGS}?timeout=1s`)).code, 200, 'and timers run')
  for (const duration of ['', 'soon', '1', -1, Infinity, '1h 2m']) {
    await t.rejects(server.clock.move(duration), RangeError, String(duration))
  }
  await server.clock.move('1h30m500ms')
})

t.test('the clock of one server is not that of another', async t => {
  const [one, other] = await Promise.all([held(t), testServer()])
  t.teardown(() => other.dispose())
  await one.clock.move('24h')
  t.ok(Math.abs(other.clock.now().getTime() - Date.now()) < 60_000)
})
