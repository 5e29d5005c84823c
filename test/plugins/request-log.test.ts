/** `-v`: what a line about a request contains, and what none ever contains. */
import { LogController, type FastifyInstance } from 'fastify'
import Fastify from '../fastify.js'
import t, { type Test } from 'tap'
import orch, { type ServerOptions } from '../../app.js'
import { createLog } from '../../config/logging.js'
import { client, type Client } from '../build.js'
import { polled } from '../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

async function start (
  t: Test, verbosity: number | (() => number), more: ServerOptions = {}
): Promise<{ server: Client, lines: () => string[] }> {
  const log: string[] = []
  const logger = createLog({ verbosity: 0, write: line => { log.push(line) } })
  const app: FastifyInstance = Fastify({
    childLoggerFactory: () => logger, logController: new LogController({ disableRequestLogging: true })
  })
  t.teardown(() => app.close())
  await app.register(orch, { requestLog: { verbosity }, authentication: { tokens: 'sesame-token,ann,1\n' }, ...more })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  log.length = 0
  return { server, lines: () => log.filter(line => / INFO {2}request /.test(line)) }
}

t.test('at 3 a line has the request and the status', async t => {
  const { server, lines } = await start(t, 3)
  await server.get(`${CONFIGS}/none?token=sesame`, { authorization: 'Bearer sesame-token' })
  t.match(lines(), [
    / request method=GET url="?\/api\/v1\/namespaces\/default\/configmaps\/none\?token=…"? status=404 milliseconds=[\d.]+ user=ann ip=127\.0\.0\.1 auditId=[-\da-f]{36}\n$/
  ])
  t.equal(lines().length, 1)
})

t.test('at 8 it has the headers, and no credential', async t => {
  const { server, lines } = await start(t, 8)
  await server.get(
    '/version',
    {
      authorization: 'Bearer sesame-token', cookie: 'session=sesame',
      'sec-websocket-protocol': 'base64url.bearer.authorization.orch.io.sesame', 'x-api-key': 'sesame',
      'x-auth-user': 'sesame', referer: 'https://ann:sesame@host/', 'x-other': 'shown\u001b[31m'
    }
  )
  const [line = ''] = lines()
  t.match(line, /requestHeaders="[^\n]*authorization: Bearer…[^\n]*x-other: shown/)
  t.match(line, /responseHeaders="[^\n]*content-type: application\/json/)
  t.notMatch(line, /sesame/)
  // eslint-disable-next-line no-control-regex -- what must not be there
  t.notMatch(line, /[\u0000-\u0009\u000b-\u001f]/)
  t.notMatch(line, /Object=/)
})

t.test('it omits objects that are encrypted at rest', async t => {
  const providers = [{ aesgcm: { keys: [{ name: 'one', secret: Buffer.alloc(32).toString('base64') }] } }]
  const { server, lines } = await start(t, 10, {
    storage: { encryption: { resources: [{ resources: ['configmaps', 'leases.coordination.orch.io'], providers }] } }
  })
  t.equal((await server.post(CONFIGS, { metadata: { name: 'hidden' }, data: { text: 'sesame' } })).code, 201)
  t.equal(
    (await server.post('/apis/coordination.orch.io/v1/namespaces/default/leases', {
      metadata: { name: 'hidden' }, spec: { holderIdentity: 'sesame' }
    })).code,
    201
  )
  t.equal((await server.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'logged' } })).code, 201)
  t.notMatch(lines().join(''), /sesame/)
  t.match(lines().at(-1), /requestObject=/, 'and those of others')
})

t.test('at 9 and 10 it has what was sent and answered, cut, and nothing of secrets', async t => {
  for (const [verbosity, longest] of [[9, 1000], [10, 10_000]] as const) {
    const { server, lines } = await start(t, verbosity)
    await server.post(CONFIGS, { metadata: { name: 'shown' }, data: { text: 'x'.repeat(20_000) } })
    t.match(lines()[0], /requestObject="\{[^\n]*ConfigMap[^\n]*shown[^\n]*…" responseObject="\{[^\n]*resourceVersion/)
    t.ok((lines()[0]?.length ?? 0) < 2 * longest + 3000)
    await server.post('/api/v1/namespaces/default/secrets', {
      metadata: { name: 'hidden' }, stringData: { password: 'sesame' }
    })
    await server.get('/api/v1/namespaces/default/secrets/hidden')
    await server.post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token: 'sesame' } })
    t.equal((await server.post('/api/v1/namespaces/default/serviceaccounts/default/token', {})).code, 201)
    t.equal(lines().length, 5)
    t.notMatch(lines().slice(1).join(''), /sesame|c2VzYW1l|eyJ|Object=/)
  }
})

t.test('a changed verbosity applies to the next request', async t => {
  let level = 0
  const { server, lines } = await start(t, () => level)
  await server.get('/version')
  t.strictSame(lines(), [])
  level = 9
  await server.get(`${CONFIGS}/none`)
  t.match(lines(), [/ url=\/api\/v1\/namespaces\/default\/configmaps\/none status=404 .*responseObject=/])
  level = 2
  await server.get('/version')
  t.equal(lines().length, 1)
})
