import t from 'tap'
import { testServer, type Snapshot, type TestServer } from '../../testing/index.js'
import { types, Watch, type Json } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const EVENTS = '/api/v1/namespaces/default/events'
const MANY = 1000

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

t.test('a fork has the same objects and revisions, and its own future', async t => {
  const fixtures = [
    {
      apiVersion: 'apiextensions.orch.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'sites.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'sites', kind: 'Site' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
      }
    },
    { apiVersion: 'example.com/v1', kind: 'Site', metadata: { name: 'home', namespace: 'default' } },
    ...Array.from({ length: 20 }, (_, at) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${at}` } }))
  ]
  const original = await testServer({ fixtures })
  t.teardown(() => original.dispose())
  const before = (await call(original, 'GET', CONFIGS)).json
  const fork = await original.fork()
  t.teardown(() => fork.dispose())
  t.not(fork.url, original.url)
  const after = (await call(fork, 'GET', CONFIGS)).json
  t.strictSame(after['items'], before['items'])
  t.strictSame(
    (await call(fork, 'GET', '/apis/example.com/v1/namespaces/default/sites/home')).json,
    (await call(original, 'GET', '/apis/example.com/v1/namespaces/default/sites/home')).json
  )
  t.equal(fork.exchanges.find({ verb: 'create' }).length, 0)

  const watch = await Watch.open(
    t, `${fork.url}${CONFIGS}?watch=1&resourceVersion=${before['metadata'].resourceVersion as string}`
  )
  t.equal((await call(fork, 'DELETE', `${CONFIGS}/c0`)).code, 200)
  t.equal((await call(fork, 'POST', CONFIGS, { metadata: { name: 'only-fork' } })).code, 201)
  t.equal((await call(original, 'POST', CONFIGS, { metadata: { name: 'only-original' } })).code, 201)
  t.strictSame(types(await watch.take(2)), ['DELETED c0', 'ADDED only-fork'], 'a watch of the original continues')
  t.equal((await call(original, 'GET', `${CONFIGS}/c0`)).code, 200)
  t.equal((await call(original, 'GET', `${CONFIGS}/only-fork`)).code, 404)
  t.equal((await call(fork, 'GET', `${CONFIGS}/only-original`)).code, 404)
  t.equal(
    (await call(fork, 'GET', `${CONFIGS}?resourceVersion=5&resourceVersionMatch=Exact`)).code, 410,
    'the history stays behind'
  )
  const stale = (before['items'] as Json[])[1] as Json
  t.equal(
    (await call(fork, 'PUT', `${CONFIGS}/${stale['metadata'].name as string}`, { ...stale, data: { a: 'b' } })).code,
    200, 'versions read from the original are current'
  )
})

t.test('a snapshot is a state to start any number of servers from, with its time, leases and tokens', async t => {
  const original = await testServer({
    now: new Date('2030-01-01T00:00:00Z'),
    fixtures: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }
  })
  t.teardown(() => original.dispose())
  await call(original, 'POST', EVENTS, { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } })
  const { json: { status } } = await call(
    original, 'POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: { expirationSeconds: 7200 } }
  )
  await original.clock.move('50m')
  const snapshot = original.snapshot()
  await call(original, 'DELETE', `${EVENTS}/e`)
  for (let at = 0; at < 2; at++) {
    const server = await testServer({ from: snapshot })
    t.teardown(() => server.dispose())
    t.strictSame([server.clock.held, server.clock.now().toISOString()], [true, '2030-01-01T00:50:00.000Z'])
    t.equal((await call(server, 'GET', `${EVENTS}/e`)).code, 200, 'the snapshot has not changed')
    t.equal(
      (await call(server, 'GET', CONFIGS, undefined, { authorization: `Bearer ${status.token as string}` })).code, 200
    )
    await server.clock.move('12m')
    t.equal((await call(server, 'GET', `${EVENTS}/e`)).code, 404, 'its lease continues')
  }
  await t.rejects(testServer({ from: { resourceVersion: '5' } as Snapshot }), /from is no snapshot of a test server/)
})

t.test('a snapshot of many objects takes milliseconds, and shares their bytes', async t => {
  const original = await testServer()
  t.teardown(() => original.dispose())
  for (let at = 0; at < MANY; at += 50) {
    await Promise.all(Array.from(
      { length: 50 },
      (_, more) =>
        call(original, 'POST', CONFIGS, { metadata: { name: `c${at + more}` }, data: { text: 'x'.repeat(2000) } })
    ))
  }
  const times = Array.from({ length: 5 }, () => {
    const since = performance.now()
    original.snapshot()
    return performance.now() - since
  })
  t.comment(`snapshots: ${times.map(time => time.toFixed(2)).join(', ')} ms`)
  const since = performance.now()
  const fork = await original.fork()
  t.teardown(() => fork.dispose())
  t.comment(`fork: ${(performance.now() - since).toFixed(0)} ms`)
  t.equal((await call(fork, 'GET', CONFIGS)).json['items'].length, MANY)
})
