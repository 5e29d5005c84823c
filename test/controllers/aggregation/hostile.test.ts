/**
 * Misbehaving extension servers, APIServices that lead nowhere or back, and clients that pose as somebody else:
 * everything is bounded, and other requests continue.
 */
import t from 'tap'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Authenticator } from '../../../app.js'
import { build, listen, type Answer, type Client, type Json } from '../../build.js'
import { until } from '../custom/definitions.js'
import { serve } from '../../secure-server.js'
import {
  apiService, available, conditionOf, extensionServer, GADGETS, GROUP, outbound, register, ROOT, service, SERVICES
} from './extension-server.js'
import { rawServer } from './raw-server.js'

const NAME = `v1.${GROUP}`

const UNREACHABLE = /^error trying to reach service: /

const ANSWERS: ReadonlyArray<readonly [string, (socket: Socket) => void, (answer: Answer) => Json]> = [
  [
    'garbage', socket => { socket.end('\x00\xff garbage\r\n\r\n') },
    ({ code, json }) => ({ code, message: UNREACHABLE.test(json['message']) })
  ],
  [
    'headers of 100 KB',
    socket => { socket.end(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\n{}`) },
    ({ code, json }) => ({ code, message: UNREACHABLE.test(json['message']) })
  ],
  [
    'the end of the connection', socket => { socket.destroy() },
    ({ code, json }) => ({ code, message: UNREACHABLE.test(json['message']) })
  ]
]

for (const [title, answer, seen] of ANSWERS) {
  t.test(`an extension server that answers with ${title} is a 503`, async t => {
    const server = await build(t)
    await register(server, await rawServer(t, answer))
    t.same(seen(await server.get(GADGETS)), { code: 503, message: true })
    t.equal((await server.get('/api/v1/namespaces')).code, 200)
  })
}

t.test('a server that hangs holds its own requests until their deadline, and no others', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound, limits: { requestTimeout: 300 } })
  await register(server, shop.port)
  shop.instead = () => true
  const [first, posted, other] = await Promise.all([
    server.get(GADGETS), server.post(GADGETS, { metadata: { name: 'a' } }), server.get('/api/v1/namespaces')
  ])
  t.match([first, posted, other], [{ code: 504 }, { code: 504 }, { code: 200 }])
  await until(async () => shop.connections().open === 0)
})

t.test('an endless answer waits for its client, and ends with it; one that breaks off is no whole answer', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, { outbound })
  await register(server, shop.port)
  let sent = 0
  let ended = false
  shop.instead = (_request, raw) => {
    raw.writeHead(200, { 'content-type': 'application/json' })
    const piece = Buffer.alloc(64 * 1024, 97)
    const more = (): void => { while (!raw.destroyed && sent < 1e9 && raw.write(piece)) sent += piece.length }
    raw.on('drain', more).on('close', () => { ended = true })
    more()
    return true
  }
  const call = httpRequest(`${server.url}${GADGETS}`, { agent: false })
  call.end()
  const [response] = await once(call, 'response') as [IncomingMessage]
  await once(response, 'readable')
  let before = -1
  await until(async () => {
    const same = before === sent
    before = sent
    await new Promise(resolve => { setTimeout(resolve, 100) })
    return same && before === sent
  })
  t.ok(sent < 64e6, `${sent} bytes are under way`)
  response.destroy()
  await until(async () => ended)

  shop.instead = (_request, raw) => {
    raw.writeHead(200, { 'content-length': 1000 })
    raw.write('half', () => { raw.destroy() })
    return true
  }
  const cut = httpRequest(`${server.url}${GADGETS}`, { agent: false })
  cut.end()
  const [half] = await once(cut, 'response') as [IncomingMessage]
  await t.rejects(half.toArray())
})

t.test('redirects are refused, and OpenAPI documents that are too large, broken or late are left out', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  const { json: before } = await server.get('/openapi/v2')
  await register(server, shop.port)
  shop.instead = ({ url }, raw) => {
    if (url.startsWith('/openapi/v2')) {
      raw.writeHead(200).end(
        `{"swagger":"2.0","paths":{"${GADGETS}":{"get":{"description":"${'a'.repeat(10e6)}"}}}}`
      )
    } else raw.writeHead(302, { location: GADGETS }).end()
    return true
  }
  t.match(await server.get(GADGETS), {
    code: 502, json: { message: 'the backend attempted to redirect this request, which is not permitted' }
  })
  const document = `/openapi/v3${ROOT}`
  let location = `${document}?hash=2`
  const moved = shop.instead
  shop.instead = (_request, raw) => {
    raw.writeHead(301, { location }).end()
    return true
  }
  t.match(
    await server.get(`${document}?hash=1`), { code: 301, headers: { location: '?hash=2' } },
    'but to the next hash of a document'
  )
  for (location of [
    `https://other.example${document}?hash=2`, `${document}/other?hash=2`, '/openapi/v3/version?hash=2',
    `//other.example${document}?hash=2`
  ]) {
    t.match(await server.get(`${document}?hash=1`), { code: 502 }, location)
  }
  location = `${GADGETS}?hash=2`
  t.match(await server.get(GADGETS), { code: 502 })
  shop.instead = moved
  t.same((await server.get('/openapi/v2')).json, before)

  const documents = [
    '[]', '{', '{"paths":{}}', `{"paths":{"${GADGETS}":{"get":{"schema":{"$ref":"#/definitions/none"}}}}}`,
    `{"paths":{"${GADGETS}":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}}`,
    '{"paths":{"/api/v1/pods":{"get":{}},"__proto__":{}},"definitions":{"__proto__":{}}}'
  ]
  for (const document of documents) {
    shop.instead = ({ url }, raw) => {
      if (!url.startsWith('/openapi/')) return false
      raw.writeHead(url === '/openapi/v2' ? 200 : 404).end(document)
      return true
    }
    await server.delete(`${SERVICES}/${NAME}`)
    await register(server, shop.port)
    t.same((await server.get('/openapi/v2')).json, before, document.slice(0, 60))
  }
  shop.instead = ({ url }) => url.startsWith('/openapi/')
  await server.delete(`${SERVICES}/${NAME}`)
  await register(server, shop.port)
  t.same((await server.get('/openapi/v2')).json, before, 'the request does not wait for it')
})

t.test('an APIService that leads back to this server, or in a circle, is refused', async t => {
  const [one, other] = [await serve(t), await serve(t)]
  /** Pretends that it was reached before. */
  const pretend = async (server: Client): Promise<void> => {
    const { json } = await server.get(`${SERVICES}/${NAME}`)
    await server.put(`${SERVICES}/${NAME}/status`, {
      ...json,
      status: {
        conditions: [
          { type: 'Available', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'Passed' }
        ]
      }
    })
  }
  const refused = async (servers: readonly Client[]): Promise<string> => {
    for (;;) {
      for (const server of servers) await pretend(server)
      const { code, json } = await (servers[0] as Client).get(GADGETS) // the first is asked
      t.equal(code, 503)
      if (json['message'] !== 'service unavailable') return json['message'] as string
    }
  }
  t.match(await register(one, one.port, { caBundle: undefined, insecureSkipTLSVerify: true }), {
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: new RegExp(
      `^failing or missing response from https://localhost:${one.port}${ROOT}: bad status from ` +
      `https://localhost:${one.port}${ROOT}: 503$`
    )
  })
  t.equal(await refused([one]), `this server has passed the request on before: APIService ${NAME} leads back to it`)
  await one.patch(`${SERVICES}/${NAME}`, { spec: { service: { port: other.port } } })
  await register(other, one.port, { caBundle: undefined, insecureSkipTLSVerify: true })
  t.equal(
    await refused([one, other]), `this server has passed the request on before: APIService ${NAME} leads back to it`
  )
})

t.test('a kept connection that ends as it is used is not a failure', async t => {
  let connections = 0
  const server = await build(t)
  const answered = new WeakSet<Socket>()
  await register(server, await rawServer(t, socket => {
    if (answered.has(socket)) socket.destroy()
    else {
      answered.add(socket)
      connections++
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    }
  }))
  for (let round = 1; round <= 3; round++) {
    t.equal((await server.get(GADGETS)).code, 200)
    t.equal(connections, round)
  }
})

/** A GET with exactly this path. */
async function raw (port: number, path: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  const text = Buffer.concat(await socket.toArray() as Buffer[]).toString()
  return Number(text.split(' ')[1])
}

t.test('paths that could be read in two ways are not passed on', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, { outbound })
  await register(server, shop.port)
  shop.asked.length = 0
  for (const path of [
    `${ROOT}/../../../api/v1/secrets`, `${ROOT}/a/..`, `${ROOT}/%2e%2e/x`, `${ROOT}/./gadgets`, `${ROOT}//gadgets`,
    `${ROOT}/..`
  ]) {
    t.equal(await raw(server.port, path), 404, path)
  }
  for (const path of [`${ROOT}/gadgets%2f..`, `${ROOT}/a%00b`, `${ROOT}/%zz`]) {
    t.equal(await raw(server.port, path), 400, path)
  }
  t.same(shop.asked, [])
  t.equal(await raw(server.port, `${GADGETS}/a%20b%3Fc`), 404)
  t.equal(shop.asked.at(-1)?.url, `${GADGETS}/a%20b%3Fc`)
  t.equal(await raw(server.port, `${GADGETS}/a/forward/22/tcp`), 404)
  t.equal(shop.asked.at(-1)?.url, `${GADGETS}/a/forward/22/tcp`)
  t.equal((await server.call('OPTIONS', `${ROOT}/gadgets`)).code, 404, 'other methods are passed on too')
  t.equal(shop.asked.at(-1)?.method, 'OPTIONS')
})

t.test('a user who cannot be named in a header is refused', async t => {
  const shop = await extensionServer(t)
  let username = ''
  const named: Authenticator = { name: 'named', authenticate: () => ({ username, uid: '', groups: [], extra: {} }) }
  const server = await build(t, { outbound, authentication: { authenticators: [named] } })
  await register(server, shop.port)
  shop.asked.length = 0
  for (username of ['a\nX-Remote-Group: system:masters', 'admin ', '\tadmin', 'a\0']) {
    t.match(await server.get(GADGETS), {
      code: 503,
      json: {
        message:
          /^error trying to reach service: the user cannot be passed on: invalid header field value for "X-Remote-User"$/
      }
    })
  }
  t.same(shop.asked, [])
})

t.test('a request body is a stream, of any size and type', async t => {
  const shop = await extensionServer(t)
  const server = await listen(t, { outbound })
  await register(server, shop.port)
  let received = 0
  shop.instead = () => false
  const call = httpRequest(`${server.url}${ROOT}/a/b/c/d/e`, {
    method: 'PUT', agent: false, headers: { 'content-type': 'application/octet-stream' }
  })
  call.on('error', () => {})
  for (let piece = 0; piece < 8; piece++) {
    call.write(Buffer.alloc(100_000, 98))
    received += 100_000
  }
  call.end()
  const [response] = await once(call, 'response') as [IncomingMessage]
  t.equal(response.statusCode, 404)
  response.resume()
  t.equal(shop.asked.find(({ method }) => method === 'PUT')?.body.length ?? received, received)
})

t.test('an APIService that is created and deleted twenty times leaves nothing behind', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  for (let round = 0; round < 20; round++) {
    await register(server, shop.port)
    t.equal((await server.get(GADGETS)).code, 200)
    await server.delete(`${SERVICES}/${NAME}`)
    if ((await server.get(GADGETS)).code !== 404) t.fail('it is still served')
  }
  await until(async () => shop.connections().open === 0)
  t.notMatch(
    await server.app.inject('/metrics').then(({ body }) => body), `aggregator_unavailable_apiservice{name="${NAME}"`
  )
})

t.test('a hundred APIServices that are unavailable leave the server as fast as it was', async t => {
  const server = await build(t)
  await service(server, 'shop', 1) // nobody listens there
  const names = Array.from({ length: 100 }, (_, index) => `g${index}.example.com`)
  for (const group of names) {
    const made = apiService(1, { group })
    const { code, body } = await server.post(SERVICES, made)
    if (code !== 201) t.fail(body)
  }
  const conditions = async (): Promise<Json[]> => (await server.get(SERVICES)).json['items'].filter(({ spec }: Json) =>
    spec.service !== undefined).map((one: Json) => available(one))
  await until(async () => (await conditions()).every(found => found?.['reason'] === 'FailedDiscoveryCheck'))
  t.equal((await server.get('/apis/g7.example.com/v1/things')).code, 503)
  t.ok((await server.get('/apis')).json['groups'].length > 100)
  t.equal((await server.get('/openapi/v2')).code, 200)
  t.equal((await server.get('/api/v1/namespaces')).code, 200)
  t.match(await conditionOf(server, 'v1.g7.example.com'), {
    message:
      'failing or missing response from https://localhost:1/apis/g7.example.com/v1: localhost:1: connection refused'
  })
})
