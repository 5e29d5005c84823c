/** Group versions that another server serves: the user with which requests reach it, and its responses. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { IDENTITY_NAMES, IDENTITY_PREFIXES } from '../../../plugins/aggregation/identity-headers.js'
import { request as httpRequest } from 'node:http'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import orch, { type Authenticator } from '../../../app.js'
import Fastify from '../../fastify.js'
import { build, client, listen, types, Watch, type Json } from '../../build.js'
import { serve, session } from '../../secure-server.js'
import { until } from '../custom/definitions.js'
import {
  apiService, conditionOf, extensionServer, GADGETS, GROUP, namelessPair, outbound, register, ROOT, SERVICES
} from './extension-server.js'

const gadget = (name: string, price: unknown = 5): Json => ({
  apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name }, spec: { price }
})

t.test('an extension server is probed, and then its resource is served as any other', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, { outbound })
  t.equal((await server.get(GADGETS)).code, 404)
  t.match(await register(server, shop.port), { status: 'True', reason: 'Passed', message: 'all checks passed' })
  t.match(shop.asked[0], {
    method: 'GET',
    url: ROOT,
    headers: { 'x-remote-user': 'system:orch-aggregator', 'x-remote-group': 'system:masters' },
    certificate: 'aggregator'
  })

  const watch = await Watch.open(t, `${server.url}${GADGETS}?watch=true`)
  t.match(await server.post(GADGETS, gadget('one')), { code: 201, json: { spec: { price: 5, colour: 'red' } } })
  t.match(await server.post(GADGETS, gadget('none', 0)), {
    code: 422, json: { reason: 'Invalid', message: 'spec.price' }
  })
  t.match(await server.get(`${GADGETS}/one`), { code: 200, json: { kind: 'Gadget' } })
  t.match(await server.get(GADGETS), { json: { kind: 'GadgetList', items: [{ metadata: { name: 'one' } }] } })
  t.match(
    await server.get(`${ROOT}/gadgets`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' }),
    { json: { kind: 'Table', rows: [{ cells: ['one', '5'] }] } }
  )
  t.match(await server.get(ROOT), { json: { kind: 'APIResourceList', resources: [{ name: 'gadgets' }] } })
  t.match(await server.delete(`${GADGETS}/one`), { code: 200 })
  t.same(types(await watch.take(2)), ['ADDED one', 'DELETED one'])
  watch.close()
  await until(async () => shop.watches() === 0)
  t.match(
    (await server.get(`${SERVICES}/v1.${GROUP}`, {
      accept: 'application/json;as=Table;g=meta.orch.io;v=v1'
    })).json.rows[0].cells.slice(0, 3),
    [`v1.${GROUP}`, 'default/shop', 'True']
  )
  t.ok(shop.connections().all < 12, 'connections are kept')
})

const ZOE: Authenticator = {
  name: 'zoé',
  authenticate: ({ headers }) => headers.authorization === undefined
    ? undefined
    : { username: 'zoé', uid: '7', groups: ['crew', 'staff'], extra: { 'example.com/team%': ['a', 'b'] } }
}

t.test('requests carry the UID from the release on that knows that', async t => {
  const shop = await extensionServer(t)
  for (const [emulatedVersion, uid] of [['1.24', undefined], ['1.36', '7']] as const) {
    const server = await build(t, { emulatedVersion, outbound, authentication: { authenticators: [ZOE] } })
    await register(server, shop.port)
    await server.get(GADGETS, { authorization: 'Bearer secret', 'x-remote-uid': '1' })
    t.equal(shop.asked.findLast(({ url }) => url === GADGETS)?.headers['x-remote-uid'], uid, emulatedVersion)
  }
})

t.test('requests carry the user and none of the client\'s credentials', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound, authentication: { authenticators: [ZOE] } })
  await register(server, shop.port)
  shop.asked.length = 0
  await server.get(`${GADGETS}?limit=5&labelSelector=a%3Db,c&pretty=true`, {
    authorization: 'Bearer secret', 'x-remote-user': 'admin', 'X-Remote-Group': 'system:masters', x_remote_extra_a: 'b',
    'x-remote-extra-scopes': 'all', 'x-remote-uid': '1', 'x-forwarded-client-cert': 'x',
    via: '1.1 front', 'x-forwarded-for': '10.0.0.9', 'x-custom': 'kept', 'x-forwarded-host': 'evil'
  })
  const [{ headers, url } = { headers: {}, url: '' }] = shop.asked
  t.equal(url, `${GADGETS}?limit=5&labelSelector=a%3Db%2Cc&pretty=true`)
  t.match(headers, {
    'x-remote-user': Buffer.from('zoé').toString('latin1'),
    'x-remote-group': 'crew, staff, system:authenticated',
    'x-remote-extra-example.com%2fteam%25': 'a, b',
    'x-forwarded-for': '10.0.0.9, 127.0.0.1',
    'x-forwarded-uri': GADGETS,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': `localhost:${shop.port}`,
    host: `localhost:${shop.port}`,
    'x-custom': 'kept',
    via: /^1\.1 front, 1\.1 orch-apiserver-/
  })
  for (const name of [
    'authorization', 'x_remote_extra_a', 'x-remote-extra-scopes', 'x-remote-uid', 'x-forwarded-client-cert'
  ]) {
    t.notOk(name in headers, name)
  }
  t.match(await server.get(GADGETS), { code: 200 })
  t.match(shop.asked.at(-1)?.headers, {
    'x-remote-user': 'system:anonymous', 'x-remote-group': 'system:unauthenticated'
  })
})

t.test('no header by which a proxy tells who a client is reaches an extension server, ' +
  'and the list of them is documented', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound, authentication: { authenticators: [ZOE] } })
  await register(server, shop.port)
  shop.asked.length = 0
  const claims = [
    ...IDENTITY_NAMES, ...IDENTITY_PREFIXES, ...IDENTITY_PREFIXES.map(prefix => `${prefix}more`), 'X-SSL-Client-CN',
    'X_SSL_CLIENT_FINGERPRINT', 'Remote_User'
  ]
  const kept = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'x-forwarded-by': 'x',
    'x-client-version': '1',
    'x-remoted': '1',
    'remote-users': '1'
  }
  const sent = claims.filter(name => !name.toLowerCase().startsWith('impersonate-')) // this server obeys those itself
  await server.get(GADGETS, { ...Object.fromEntries(sent.map(name => [name, 'admin'])), ...kept })
  const [{ headers } = { headers: {} }] = shop.asked
  const own = ['x-remote-user', 'x-remote-group']
  t.same(
    Object.keys(headers).filter(name =>
      !own.includes(name) && sent.some(claim => claim.toLowerCase() === name.toLowerCase())),
    []
  )
  t.match(headers, { ...kept, traceparent: /^00-0af7651916cd43dd8448eb211c80319c-/ })
  const text = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8').toLowerCase()
  const documented = (name: string, star: string): boolean => text.includes(`\`${name}${star}\``)
  t.same(IDENTITY_NAMES.filter(name => !documented(name, '')), [])
  t.same(IDENTITY_PREFIXES.filter(prefix => !documented(prefix, '*')), [])
})

t.test('an unavailable one is a 503, an unknown one a 404, and a deleted one is unknown again', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  const away = apiService(shop.port, { service: { namespace: 'default', name: 'none' } })
  await server.post(SERVICES, away)
  t.match(await conditionOf(server, `v1.${GROUP}`), {
    status: 'False', reason: 'ServiceNotFound', message: 'service/none in "default" is not present'
  })
  t.match(await server.get(GADGETS), {
    code: 503, json: { kind: 'Status', reason: 'ServiceUnavailable', message: 'service unavailable' }
  })
  t.match(await server.get(ROOT), { code: 503 })
  t.match((await server.get('/apis')).json.groups.find(({ name }: Json) => name === GROUP), {
    preferredVersion: { groupVersion: `${GROUP}/v1` }
  })
  t.equal((await server.get(`/apis/${GROUP}/v2/gadgets`)).code, 404)
  t.equal((await server.delete(`${SERVICES}/v1.${GROUP}`)).code, 200)
  t.equal((await server.get(GADGETS)).code, 404)
  t.equal((await server.get(`/apis/${GROUP}`)).code, 404)

  await register(server, shop.port)
  shop.close()
  t.match(await server.get(GADGETS), {
    code: 503, json: { message: /^error trying to reach service: localhost:\d+: connection refused$/ }
  })
  t.match(
    await server.app.inject('/metrics').then(({ body }) => body),
    new RegExp(`aggregator_unavailable_apiservice\\{name="v1\\.${GROUP}"\\} 0`)
  )
})

t.test('the certificate has to be that of the service, by the authority of the APIService', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port, { caBundle: undefined })
  t.match(await server.get(GADGETS), {
    code: 503, json: { message: /^error trying to reach service: .*signed by an unknown authority$/ }
  })
  await server.patch(`${SERVICES}/v1.${GROUP}`, { spec: { insecureSkipTLSVerify: true } })
  t.equal((await server.get(GADGETS)).code, 200)
  await server.post('/api/v1/namespaces/default/services', {
    metadata: { name: 'other' }, spec: { type: 'ExternalName', externalName: 'localhost' }
  })
  await server.patch(`${SERVICES}/v1.${GROUP}`, {
    spec: { insecureSkipTLSVerify: null, caBundle: apiService(1)['spec'].caBundle, service: { name: 'other' } }
  })
  t.match(await server.get(GADGETS), { code: 503, json: { message: /other\.default\.svc/ } })
})

t.test('a certificate without alternative names is refused, and counted', async t => {
  const shop = await extensionServer(t, { certificate: namelessPair })
  const server = await build(t, { outbound })
  await register(server, shop.port)
  t.match(await server.get(GADGETS), { code: 503, json: { message: /has no subject alternative name/ } })
  t.match((await server.get('/metrics')).body, /^apiserver_orch_aggregator_x509_missing_san_total 1$/m)
})

t.test('an upgrade is a stream in both directions', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, { outbound })
  await register(server, shop.port)
  const connect = async () => {
    const call = httpRequest(`${server.url}${GADGETS}/one/exec`, {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'x-remote-user': 'admin' }
    })
    call.end()
    return await Promise.race([once(call, 'upgrade'), once(call, 'response')])
  }
  shop.upgrade.handle = (socket, headers) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.write(`user ${String(headers['x-remote-user'])};`)
    socket.on('data', piece => { socket.write(piece) })
  }
  const [{ statusCode }, socket, head] = await connect()
  t.equal(statusCode, 101)
  socket.write('hello')
  let text = String(head)
  socket.on('data', (piece: Buffer) => { text += piece.toString() })
  await until(async () => text === 'user system:anonymous;hello')
  t.equal(shop.asked.at(-1)?.certificate, 'aggregator')
  socket.destroy()

  shop.upgrade.handle = socket => {
    socket.end('HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n')
  }
  t.match((await connect())[0], { statusCode: 502 })
  shop.upgrade.handle = undefined
  t.match((await connect())[0], { statusCode: 503 }, 'the connection ended instead')
})

t.test('a connection that was upgraded outlives the deadline of its request', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, { outbound, limits: { requestTimeout: 1000 } })
  await register(server, shop.port)
  shop.upgrade.handle = socket => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.on('data', piece => { socket.write(piece) })
  }
  const call = httpRequest(`${server.url}${GADGETS}/one/screen`, {
    headers: { connection: 'Upgrade', upgrade: 'websocket' }
  })
  call.end()
  const [, socket] = await once(call, 'upgrade') as [unknown, Socket]
  shop.instead = () => true
  t.equal((await server.get(GADGETS)).code, 504, 'a later request has reached its deadline')
  socket.write('hello')
  t.equal(String((await once(socket, 'data'))[0]), 'hello')
  socket.destroy()
})

t.test('watches of an extension server take no seats of others', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, {
    outbound, limits: { priorityAndFairness: true, maxRequestsInflight: 20, maxMutatingRequestsInflight: 20 }
  })
  await register(server, shop.port)
  const watches = await Promise.all(Array.from(
    { length: 100 }, () => Watch.open(t, `${server.url}${GADGETS}?watch=true`)
  ))
  t.ok(watches.every(({ code }) => code === 200))
  t.equal((await server.get(GADGETS)).code, 200)
  t.equal((await server.get('/api/v1/namespaces')).code, 200)
  for (const watch of watches) watch.close()
  await until(async () => shop.watches() === 0)
})

t.test('a status that HTTP/2 does not have is refused there', async t => {
  const shop = await extensionServer(t)
  const server = await serve(t, { outbound })
  await register(server, shop.port)
  shop.instead = ({ url }, raw) => {
    if (url !== GADGETS) return false
    raw.socket?.end('HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nno')
    return true
  }
  const request = session(t, server.port).request({ ':path': GADGETS })
  const [{ ':status': code }] = await once(request, 'response') as [Record<string, unknown>]
  t.equal(code, 502)
  request.resume()
})

t.test('a host passes requests on from where the server is mounted', async t => {
  const shop = await extensionServer(t)
  const app = Fastify({ logger: false })
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/cluster', outbound })
  await app.ready()
  const host = client(app)
  const server = {
    ...host,
    get: (url: string) => host.get(`/cluster${url}`),
    post: (url: string, body: unknown) => host.post(`/cluster${url}`, body)
  }
  await until(async () => (await server.get('/readyz')).code === 200)
  await register(server, shop.port)
  t.equal((await server.get(GADGETS)).code, 200)
  t.equal(shop.asked.at(-1)?.url, GADGETS)
  t.match(await server.get(ROOT), { json: { resources: [{ name: 'gadgets' }] } })
  t.equal((await host.get(GADGETS)).code, 404)
})
