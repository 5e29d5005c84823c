/**
 * Interface, 'Errors': each implemented row of the table, its rules, and the Status of codes that the interface leaves
 * open.
 */
import t from 'tap'
import Fastify from '../fastify.js'
import { server as orch } from '../../app.js'
import { BINDINGS, client, PROTOBUF, build, binding, type Client, type Json, type Answer } from '../build.js'
import { loadedServer } from '../../plugins/shared/plugin.js'
import { polled } from '../polled.js'

function status (
  t: {
    match: (found: unknown, wanted: object, title: string) => unknown
    same: (found: unknown, wanted: unknown, title: string) => unknown
  },
  { code, json, headers }: Answer,
  wanted: number,
  reason: string,
  title: string
): void {
  t.match(
    { code, json, type: headers['content-type'] },
    {
      code: wanted,
      json: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code: wanted, message: /\S/ },
      type: /^application\/json/
    },
    title
  )
  t.same(
    Object.keys(json).filter(name =>
      !['kind', 'apiVersion', 'metadata', 'status', 'message', 'reason', 'details', 'code'].includes(name)),
    [],
    `${title}: and nothing else`
  )
}

t.test('each code has its reason, and details say what it is about', async t => {
  const server = await build(t, {
    authentication: { tokens: 'known,ann,1\n' },
    authorization: {
      authorizers: [
        {
          name: 'no-secrets',
          authorize: ({ info }) => ({
            decision: info.resource === 'secrets' ? 'Deny' : 'NoOpinion', reason: 'not those'
          })
        }
      ]
    }
  })
  await server.post(BINDINGS, binding('a'))
  status(t, await server.post(BINDINGS, '{'), 400, 'BadRequest', 'a body that cannot be read')
  status(
    t, await server.get(BINDINGS, { authorization: 'Bearer unknown' }), 401, 'Unauthorized', 'credentials nobody knows'
  )
  const forbidden = await server.get('/api/v1/namespaces/default/secrets/s')
  status(t, forbidden, 403, 'Forbidden', 'what may not be')
  t.match(forbidden.json, {
    message:
      /secrets "s" is forbidden: User "system:anonymous" cannot get resource "secrets" in API group "" in the namespace "default"/,
    details: { name: 's', kind: 'secrets' }
  })
  const missing = await server.get(`${BINDINGS}/none`)
  status(t, missing, 404, 'NotFound', 'what is not there')
  t.match(missing.json, {
    message: 'clusterrolebindings.rbac.authorization.orch.io "none" not found',
    details: { name: 'none', group: 'rbac.authorization.orch.io', kind: 'clusterrolebindings' }
  })
  status(t, await server.get('/nothing/here'), 404, 'NotFound', 'a path of nothing')
  status(t, await server.call('PATCH', BINDINGS, {}), 405, 'MethodNotAllowed', 'a method that a path does not take')
  status(t, await server.get(BINDINGS, { accept: 'text/html' }), 406, 'NotAcceptable', 'a form there is not')
  const exists = await server.post(BINDINGS, binding('a'))
  status(t, exists, 409, 'AlreadyExists', 'a name that is taken')
  t.match(exists.json.details, { name: 'a', group: 'rbac.authorization.orch.io', kind: 'clusterrolebindings' })
  status(
    t, await server.put(`${BINDINGS}/a`, binding('a', { metadata: { resourceVersion: '1' } })), 409, 'Conflict',
    'a version that has passed'
  )
  status(
    t, await server.post(BINDINGS, Buffer.alloc(3 * 1024 * 1024 + 1, 0x20)), 413, 'RequestEntityTooLarge',
    'a body that is too large'
  )
  status(
    t, await server.post(BINDINGS, 'x', { 'content-type': 'text/plain' }), 415, 'UnsupportedMediaType',
    'a body of another type'
  )
  const invalid = await server.post(BINDINGS, { metadata: { name: 'b' } })
  status(t, invalid, 422, 'Invalid', 'an object against the rules')
  t.match(invalid.json.details, { name: 'b', group: 'rbac.authorization.orch.io', kind: 'ClusterRoleBinding' })
  for (const cause of invalid.json.details.causes as Json[]) {
    t.match(cause, { reason: /^FieldValue/, message: String, field: String })
  }
})

t.test('400: a continue token with another version, and the combinations marked invalid', async t => {
  const server = await build(t)
  for (const name of ['a', 'b']) await server.post(BINDINGS, binding(name))
  const { continue: token, resourceVersion } = (await server.get(`${BINDINGS}?limit=1`)).json.metadata
  for (const query of [
    `limit=1&continue=${token}&resourceVersion=${Number(resourceVersion) + 1}`, 'resourceVersionMatch=Exact',
    'resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Exact&resourceVersion=0',
    'resourceVersionMatch=Exact&limit=1', 'resourceVersionMatch=NotOlderThan&limit=1'
  ]) {
    status(t, await server.get(`${BINDINGS}?${query}`), 400, 'BadRequest', query)
  }
  t.equal((await server.get(`${BINDINGS}?limit=1&continue=${token}&resourceVersion=0`)).code, 200)
})

t.test('504 for a version that does not become available, with when to try again', async t => {
  const server = await build(t)
  const answer = await server.get(`${BINDINGS}?resourceVersion=1000000`)
  status(t, answer, 504, 'Timeout', 'too new')
  t.match(answer.json, { message: /Too large resource version/, details: { retryAfterSeconds: Number } })
  t.equal(answer.headers['retry-after'], String(answer.json.details.retryAfterSeconds))
})

t.test('a read of a future version is not logged as a failure of the store', async t => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: line => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, { storage: { kind: 'memory' } })
  t.equal((await client(app).get(`${BINDINGS}?resourceVersion=1000000`)).code, 504)
  t.same(lines, [])
})

async function draining (
  t: Parameters<typeof build>[0], sendRetryAfter: boolean
): Promise<{ server: Client, end: () => Promise<void> }> {
  const app = Fastify({ forceCloseConnections: true, return503OnClosing: false })
  t.teardown(() => app.close())
  let begin = async (): Promise<number> => 0
  let release = (): void => {}
  await app.register(async scope => {
    await orch(scope, {
      shutdown: { sendRetryAfter },
      authorization: {
        authorizers: [
          {
            name: 'held',
            authorize: ({ info }) => info.name === 'held'
              ? new Promise(resolve => { release = () => { resolve({ decision: 'Allow' }) } })
              : { decision: 'Allow' }
          }
        ]
      }
    })
    begin = () => loadedServer(scope).orchShutdown.begin()
  })
  await app.ready()
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  const held = server.get(`${BINDINGS}/held`)
  await new Promise(resolve => { setImmediate(resolve) })
  const ended = begin()
  await polled(async () => (await server.get('/readyz')).code !== 200)
  await new Promise(resolve => { setTimeout(resolve, 20) })
  return {
    server,
    end: async () => {
      release()
      await Promise.all([held, ended])
    }
  }
}

t.test('429 while draining with --shutdown-send-retry-after, with Retry-After and Connection: close', async t => {
  const { server, end } = await draining(t, true)
  for (const [method, url, body] of [
    ['GET', BINDINGS], ['POST', BINDINGS, binding('a')], ['GET', '/version'], ['DELETE', BINDINGS]
  ] as const) {
    const answer = await server.call(method, url, body)
    status(t, answer, 429, 'TooManyRequests', `${method} ${url}`)
    t.match(answer.headers, { 'retry-after': /^\d+$/, connection: 'close' })
  }
  t.equal((await server.get('/livez')).code, 200, 'health checks are answered to the end')
  await end()
})

t.test('without that flag requests during the drain are served, and their connections end', async t => {
  const { server, end } = await draining(t, false)
  const answer = await server.get(BINDINGS)
  t.equal(answer.code, 200)
  t.equal(answer.headers.connection, 'close')
  await end()
})

t.test('an error is encoded in the requested media type', async t => {
  const server = await build(t)
  t.match((await server.get(`${BINDINGS}/none?pretty=true`)).body, /\n {2}"reason": "NotFound"/)
  t.match((await server.get(`${BINDINGS}/none`, { accept: 'application/yaml' })).body, /^reason: NotFound$/m)
  t.equal((await server.get(`${BINDINGS}/none`, { accept: PROTOBUF })).raw.subarray(0, 4).toString('hex'), '6b387300')
  t.match(
    (await server.get(`${BINDINGS}/none`, { accept: 'text/html' })).json, { kind: 'Status' },
    'in JSON where none can be'
  )
})

t.test('an internal failure is an InternalError without details', async t => {
  const server = await build(t, {
    admission: {
      plugins: [
        {
          name: 'broken',
          handles: ({ name }) => name === 'broken',
          mutate: () => { throw new Error('the secret of the house') }
        }
      ]
    }
  })
  const answer = await server.post(BINDINGS, binding('broken'))
  status(t, answer, 500, 'InternalError', 'a bug')
  t.notMatch(answer.body, /secret/)
  t.equal((await server.post(BINDINGS, binding('whole'))).code, 201, 'and the next request is served')
})
