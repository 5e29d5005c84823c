import t from 'tap'
import { testServer, type TestServer, type TestServerOptions } from '../../testing/index.js'
import { TABLE, Watch, type Json, type Test } from '../build.js'

const START = new Date('2030-01-01T00:00:00Z')
const CONFIGS = '/api/v1/namespaces/default/configmaps'
const EVENTS = '/api/v1/namespaces/default/events'

async function held (t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer({ now: START, ...options })
  t.teardown(() => server.dispose())
  return server
}

async function call (server: TestServer, method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<{ code: number, json: Json }> {
  const response = await fetch(server.url + path, { method, headers: { 'content-type': 'application/json', ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  return { code: response.status, json: await response.json() as Json }
}

t.test('timestamps are those of the clock', async t => {
  const server = await held(t)
  const { json } = await call(server, 'POST', CONFIGS, { metadata: { name: 'a', finalizers: ['example.com/wait'] } })
  t.equal(json['metadata'].creationTimestamp, '2030-01-01T00:00:00Z')
  await server.clock.move('26h')
  t.match((await call(server, 'GET', `${CONFIGS}/a`, undefined, { accept: TABLE })).json['rows'][0].cells, ['a', 0, '26h'])
  t.equal((await call(server, 'DELETE', `${CONFIGS}/a`)).json['metadata'].deletionTimestamp, '2030-01-02T02:00:00Z')
  t.match((await call(server, 'PATCH', `${CONFIGS}/a`, { data: { a: 'b' } }, { 'content-type': 'application/merge-patch+json' })).json['metadata'].managedFields[0].time, '2030-01-02T02:00:00Z')
  t.equal([...server.exchanges].at(-1)?.at, Date.parse('2030-01-02T02:00:00Z'))
})

t.test('objects with a lifetime expire when it has passed, not before', async t => {
  const server = await held(t)
  t.equal((await call(server, 'POST', EVENTS, { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } })).code, 201)
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
  const { json: { status } } = await call(server, 'POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: { expirationSeconds: 3600 } })
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

t.test('a held clock stands still, one that runs goes on from where it was moved to', async t => {
  const server = await held(t)
  const before = server.clock.now()
  await new Promise(resolve => { setTimeout(resolve, 20) })
  t.strictSame([server.clock.now(), server.clock.held], [before, true])
  t.equal(before.getTime(), START.getTime())
  server.clock.run()
  await server.clock.move('1d')
  t.notOk(server.clock.held)
  const moved = server.clock.now().getTime()
  t.ok(moved >= START.getTime() + 86_400_000)
  while (server.clock.now().getTime() === moved) await new Promise(resolve => { setTimeout(resolve, 1) })
  t.equal((await call(server, 'GET', `${CONFIGS}?timeout=1s`)).code, 200, 'and timers run')
  for (const duration of ['', 'soon', '1', -1, Infinity, '1h 2m']) await t.rejects(server.clock.move(duration), RangeError, String(duration))
  await server.clock.move('1h30m500ms')
})

t.test('the clock of one server is not that of another', async t => {
  const [one, other] = await Promise.all([held(t), testServer()])
  t.teardown(() => other.dispose())
  await one.clock.move('1d')
  t.ok(Math.abs(other.clock.now().getTime() - Date.now()) < 60_000)
})
