import t from 'tap'
import { once } from 'node:events'
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { locateService } from '../../../plugins/connections/destinations.js'
import { NodeAgents } from '../../../plugins/connections/node-agents.js'
import type { ResourceRegistry } from '../../../registry/resource-registry.js'
import Fastify from '../../fastify.js'
import orch from '../../../app.js'
import { build, client, listen, type Client, type Json, type Test } from '../../build.js'
import { flagged, SERVER_FILES } from '../../flagged-server.js'
import { callingAgent, echo, nodeAgent, PODS, withPod } from '../../node-agent.js'

interface Backend { readonly port: number, readonly asked: IncomingMessage[] }

/** The program in a pod. */
async function backend (
  t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void
): Promise<Backend> {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    answer(request, response)
  })
  server.on('upgrade', (request, socket: Socket, head) => {
    asked.push(request)
    echo(request, socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}

const SERVICES = '/api/v1/namespaces/default/services'

/** A pod with that address, whose container declares a port. */
async function podAt (server: Client, port: number, { name = 'web', podIP = '127.0.0.1' }: Json = {}): Promise<void> {
  const made = await server.post(PODS, {
    metadata: { name },
    spec: { containers: [{ name: 'side', image: 'i' }, { name: 'main', image: 'i', ports: [{ containerPort: port }] }] }
  })
  if (made.code !== 201) throw new Error(made.body)
  const status = await server.patch(`${PODS}/${name}/status`, { status: { podIP, podIPs: [{ ip: podIP }] } })
  if (status.code !== 200) throw new Error(status.body)
}

function filesOf (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-proxy-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  for (const [name, content] of Object.entries(SERVER_FILES)) writeFileSync(join(folder, name), content)
  return folder
}

const nearby = { connections: { nearby: true } }

t.test('a request is forwarded to the pod unchanged, and its response returned', async t => {
  const pod = await backend(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      response.writeHead(
        418,
        {
          'x-own': 'yes', 'x-uri': request.headers['x-forwarded-uri'], 'set-cookie': ['a=1', 'b=2'],
          'cache-control': 'max-age=5', 'access-control-allow-origin': '*', connection: 'x-hop', 'x-hop': 'gone',
          'content-type': 'text/plain'
        }
      )
      response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
    })
  })
  const server = await listen(t, nearby)
  await podAt(server, pod.port)
  for (const [method, path, url, body] of [
    ['GET', '/', '/'], ['POST', '/a/b?x=1&y=%20&dryRun=no&watch=1', '/a/b?x=1&y=%20&dryRun=no&watch=1', 'body'],
    ['PUT', '/a%20b/%C3%A4(c)', '/a%20b/%C3%A4%28c%29', 'x'], ['PATCH', '/p', '/p', '{}'],
    ['DELETE', '/d/', '/d/'], ['OPTIONS', '/o', '/o'], ['GET', '/a%2Fb', '/a/b'], ['GET', '//x/./y/../z//', '/x/z/'],
    ['GET', '/../../../../up', '/up'], ['POST', '', '/', 'root']
  ] as const) {
    if (method === 'POST' && url.includes('dryRun')) {
      t.match(await server.call(method, `${PODS}/web/proxy${path}`, body), {
        code: 400, json: { message: 'dryRun is not supported' }
      })
      continue
    }
    const answer = await sent(t, server.port, method, `${PODS}/web/proxy${path}`, body)
    t.match(
      answer,
      {
        code: 418,
        body: `${method} ${url} ${body ?? ''}`,
        headers: {
          'x-own': 'yes', 'set-cookie': ['a=1', 'b=2'], 'cache-control': 'no-cache, private, max-age=5', 'audit-id': /-/
        }
      },
      `${method} ${path}`
    )
    t.same(
      [
        answer.headers['x-hop'], answer.headers['access-control-allow-origin'],
        answer.headers['content-security-policy']
      ],
      [undefined, undefined, undefined]
    )
  }
  t.match(
    await sent(t, server.port, 'GET', `${PODS}/web/proxy/../../../../up`),
    { headers: { 'x-uri': `${PODS}/web/proxy/up` } }, 'the URI stays below the proxy'
  )
  const head = await sent(t, server.port, 'HEAD', `${PODS}/web/proxy/h`)
  t.match(head, { code: 418, body: '', headers: { 'x-own': 'yes' } })
})

interface Sent { code: number, body: string, headers: IncomingMessage['headers'] }

async function sent (
  t: Test, port: number, method: string, path: string, body?: string, headers: Record<string, string> = {}
): Promise<Sent> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }), ...headers },
    agent: false
  })
  t.teardown(() => { request.destroy() })
  request.end(body)
  const [response] = await once(request, 'response') as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  return { code: response.statusCode ?? 0, body: text, headers: response.headers }
}

t.test('credentials, impersonation and hop-by-hop headers are not forwarded', async t => {
  const pod = await backend(t, (_request, response) => { response.end() })
  const server = await listen(t, {
    ...nearby, authentication: { tokens: 'secret,ann,1\n' },
    authorization: { authorizers: [{ name: 'all', authorize: () => ({ decision: 'Allow' }) }] }
  })
  await podAt(server, pod.port)
  await sent(t, server.port, 'GET', `${PODS}/web/proxy/a%20b/?q=1`, undefined, {
    authorization: 'Bearer secret', 'impersonate-user': 'eve', 'impersonate-group': 'g', connection: 'close, x-mine',
    'x-mine': 'a', 'x-kept': 'b', 'keep-alive': 'timeout=5', te: 'trailers', 'proxy-authorization': 'Basic x',
    cookie: 'c=d', 'x-forwarded-for': '192.0.2.9', 'x-forwarded-uri': '/lie', host: 'api.example'
  })
  const [asked] = pod.asked
  t.match(asked?.headers, {
    'x-kept': 'b',
    cookie: 'c=d',
    host: 'api.example',
    'x-forwarded-for': '192.0.2.9, 127.0.0.1',
    'x-forwarded-uri': `${PODS}/web/proxy/a%20b/`
  })
  for (const name of [
    'authorization', 'impersonate-user', 'impersonate-group', 'x-mine', 'keep-alive', 'te', 'proxy-authorization'
  ]) {
    t.equal(asked?.headers[name], undefined, name)
  }
})

t.test('URLs in responses are rewritten to lead through the proxy', async t => {
  let location = ''
  const pod = await backend(t, (_request, response) => { response.writeHead(302, { location }).end() })
  const server = await listen(t, nearby)
  await podAt(server, pod.port)
  const proxy = `${PODS}/web/proxy`
  for (const [given, expected] of [
    ['/login?next=%2F#top', `${proxy}/login?next=%2F#top`],
    [`http://127.0.0.1:${pod.port}/a/`, `${proxy}/a/`],
    ['//api.example/a', `//api.example${proxy}/a`],
    ['https://api.example/a', `https://api.example${proxy}/a`],
    [`${proxy}/there`, `${proxy}/there`],
    ['next/page', 'next/page'],
    ['https://elsewhere.example/a', 'https://elsewhere.example/a'],
    ['/', `${proxy}/`]
  ] as const) {
    location = given
    t.match(
      await sent(t, server.port, 'GET', `${proxy}/x`, undefined, { host: 'api.example' }),
      { code: 302, headers: { location: expected } }, given
    )
  }
  t.match(await sent(t, server.port, 'GET', `${proxy}?a=b`), { code: 301, headers: { location: `${proxy}/?a=b` } })
  t.equal(pod.asked.length, 8)
})

t.test('where a request may go is bounded', async t => {
  const server = await build(t)
  await podAt(server, 80, { name: 'near', podIP: '127.0.0.1' })
  await podAt(server, 80, { name: 'mapped', podIP: '::ffff:127.0.0.1' })
  await podAt(server, 80, { name: 'link', podIP: '169.254.169.254' })
  await server.post(PODS, { metadata: { name: 'none' }, spec: { containers: [container] } })
  for (const name of ['near', 'mapped', 'link', 'none']) {
    t.match(
      await server.get(`${PODS}/${name}/proxy/`),
      { code: 400, json: { reason: 'BadRequest', message: 'address not allowed' } }, name
    )
  }
  await server.post('/api/v1/nodes', { metadata: { name: 'n' } })
  await server.patch('/api/v1/nodes/n/status', {
    status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] }
  })
  t.match(await server.get('/api/v1/nodes/n/proxy/'), { code: 400, json: { message: 'address not allowed' } })
  t.match(await server.get('/api/v1/nodes/n:22/proxy/'), { code: 400, json: { message: 'address not allowed' } })
  for (const [path, message] of [
    [`${PODS}/ftp:near:80/proxy/`, 'invalid pod request "ftp:near:80"'],
    [`${PODS}/a:b:c:d/proxy/`, 'invalid pod request "a:b:c:d"'],
    [`${SERVICES}/http::80/proxy/`, 'invalid service request "http::80"'],
    ['/api/v1/nodes/x:n:1/proxy/', 'invalid node request "x:n:1"']
  ] as const) t.match(await server.get(path), { code: 400, json: { message } }, path)
  t.match(await server.get(`${PODS}/gone:80/proxy/`), { code: 404, json: { message: 'pods "gone" not found' } })
  t.match(await server.get('/api/v1/nodes/gone/proxy/'), { code: 404, json: { message: 'nodes "gone" not found' } })
})

const container = { name: 'c', image: 'i' }

t.test('a service is one of its pods that are ready', async t => {
  const folder = filesOf(t)
  let resources: ResourceRegistry | undefined
  const server = await flagged(t, folder, [], {}, scope => { resources = scope.orchResources })
  await podAt(server, 1)
  await server.post(SERVICES, {
    metadata: { name: 's' }, spec: { ports: [{ name: 'web', port: 8080 }, { name: 'other', port: 9090 }] }
  })
  const unavailable = async (id: string, message: string) => t.match(
    await server.get(`${SERVICES}/${id}/proxy/`), { code: 503, json: { reason: 'ServiceUnavailable', message } }, id
  )
  t.match(await server.get(`${SERVICES}/s/proxy/`), { code: 404, json: { message: 'endpoints "s" not found' } })
  t.match(await server.get(`${SERVICES}/gone:80/proxy/`), { code: 404, json: { message: 'services "gone" not found' } })
  await server.post('/api/v1/namespaces/default/endpoints', { metadata: { name: 's' }, subsets: [] })
  await unavailable('s:web', 'no endpoints available for service "s"')
  await unavailable('s:81', 'no service port 81 found for service "s"')
  const address = '192.0.2.77'
  await server.patch(`${PODS}/web/status`, { status: { podIP: address, podIPs: [{ ip: address }] } })
  const ports = [{ name: 'web', port: 8443 }]
  const subset = (targetRef?: Json) => ({
    addresses: [{ ip: address, ...(targetRef === undefined ? {} : { targetRef }) }], ports
  })
  await server.put('/api/v1/namespaces/default/endpoints/s', {
    metadata: { name: 's' },
    subsets: [
      subset(),
      { notReadyAddresses: [{ ip: address, targetRef: { kind: 'Pod', namespace: 'default', name: 'web' } }], ports }
    ]
  })
  await unavailable('s:web', 'no endpoints available for service "s:web"')
  await server.put('/api/v1/namespaces/default/endpoints/s', {
    metadata: { name: 's' },
    subsets: [
      subset({ kind: 'Pod', namespace: 'other', name: 'web' }),
      subset({ kind: 'Pod', namespace: 'default', name: 'nobody' })
    ]
  })
  await unavailable('https:s:web', 'no endpoints available for service "https:s:web"')
  await unavailable('s:other', 'no endpoints available for service "s:other"')
  const ready = subset({ kind: 'Pod', namespace: 'default', name: 'web' })
  await server.put('/api/v1/namespaces/default/endpoints/s', {
    metadata: { name: 's' },
    subsets: [subset(), { notReadyAddresses: ready.addresses, ports: [{ name: 'other', port: 1 }] }, ready]
  })
  if (resources === undefined) throw new Error('the server has no resources')
  for (const random of [0, 0.5, 0.99]) {
    const locate = locateService({
      resources,
      agents: new NodeAgents(resources, { reach: { nearby: false } }, {}),
      reach: { nearby: false },
      random: () => random
    })
    t.match(await locate('default', 's:web'), { scheme: 'http', host: address, port: 8443 }, 'by the name of its port')
    t.match(await locate('default', 'https:s:8080'), { scheme: 'https', host: address, port: 8443 }, 'by its number')
  }
})

t.test('a pod that cannot be reached is unavailable, and one that breaks off is not whole', async t => {
  const pod = await backend(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('part', () => { response.destroy() })
  })
  const server = await listen(t, nearby)
  await podAt(server, pod.port)
  await podAt(server, 1, { name: 'closed' })
  t.match(await server.get(`${PODS}/closed/proxy/`), {
    code: 503,
    json: {
      reason: 'ServiceUnavailable', message: /^error trying to reach service: 127\.0\.0\.1:1: .*connection refused$/
    }
  })
  t.match(await server.get(`${PODS}/web:70000/proxy/`), { code: 503, json: { message: /no port number/ } })
  t.match(await server.get(`${PODS}/https:web:${pod.port}/proxy/`), {
    code: 503, json: { message: /^error trying to reach service: / }
  })
  await t.rejects(sent(t, server.port, 'GET', `${PODS}/web/proxy/`), { code: 'ECONNRESET' })
})

t.test('the proxy of a node reaches its agent with the client certificate of the server', async t => {
  const agent = await nodeAgent(t, {
    request: (request, response) => { response.end(`${request.method} ${request.url}`) }
  })
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  t.match(await server.get('/api/v1/nodes/n/proxy/metrics?x=1'), { code: 200, body: 'GET /metrics?x=1' })
  t.match(await server.post(`/api/v1/nodes/n:${agent.port}/proxy/run`, '{}'), { code: 200, body: 'POST /run' })
  t.match(agent.asked, [
    { client: 'orch-apiserver', headers: { 'x-forwarded-uri': '/api/v1/nodes/n/proxy/metrics' } },
    { client: 'orch-apiserver' }
  ])
  t.match(await server.get('/api/v1/nodes/n:1/proxy/'), { code: 503 })
})

t.test('bodies are passed on while they come, both ways at once', async t => {
  const pod = await backend(t, (request, response) => { request.pipe(response) })
  const server = await listen(t, nearby)
  await podAt(server, pod.port)
  const request = httpRequest({
    port: server.port, host: '127.0.0.1', method: 'POST', path: `${PODS}/web/proxy/echo`, agent: false
  })
  t.teardown(() => { request.destroy() })
  request.write('one')
  const [response] = await once(request, 'response') as [IncomingMessage]
  response.setEncoding('utf8')
  t.same(await once(response, 'data'), ['one'])
  request.write('two')
  t.same(await once(response, 'data'), ['two'])
  request.end()
  response.resume()
  await once(response, 'end')
  const large = 'x'.repeat(5 * 1024 * 1024)
  t.equal(
    (await sent(t, server.port, 'PUT', `${PODS}/web/proxy/large`, large)).body.length, large.length,
    'more than bodies of our own may have'
  )
})

t.test('a pod that answers before the whole body is sent leaves the client connection usable', async t => {
  const pod = await backend(t, (_request, response) => {
    response.writeHead(413, { connection: 'close' }).end('enough')
  })
  const server = await listen(t, nearby)
  await podAt(server, pod.port)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => { agent.destroy() })
  for (let round = 0; round < 3; round++) {
    const request = httpRequest({
      port: server.port, host: '127.0.0.1', method: 'POST', path: `${PODS}/web/proxy/`, agent
    })
    request.on('error', () => {})
    request.end('x'.repeat(3_000_000))
    const [response] = await once(request, 'response') as [IncomingMessage]
    // Its response may be lost with the connection, to which bytes were still being sent.
    t.ok([413, 503].includes(response.statusCode ?? 0), `answer ${round}`)
    response.resume()
    await once(response, 'end')
  }
})

t.test('over HTTP/2 and TLS too', async t => {
  const folder = filesOf(t)
  const pod = await backend(t, (request, response) => {
    response.writeHead(200, {
      connection: 'keep-alive', 'keep-alive': 'timeout=9', 'x-host': request.headers.host ?? ''
    })
    request.pipe(response)
  })
  const server = await flagged(t, folder, [], nearby)
  await podAt(server, pod.port)
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  t.teardown(() => { session.destroy() })
  for (const [method, body] of [['GET', ''], ['POST', 'said']] as const) {
    const stream = session.request({ ':method': method, ':path': `${PODS}/web/proxy/x`, ':authority': 'api.example' })
    if (body !== '') stream.end(body)
    const [head] = await once(stream, 'response') as [Record<string, unknown>]
    t.match(head, { ':status': 200, 'x-host': 'api.example' })
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
    t.equal(text, body)
  }
})

t.test('an upgrade is forwarded to the pod', async t => {
  const pod = await backend(t, () => {})
  const server = await listen(t, nearby)
  await podAt(server, pod.port)
  const socket = connect(server.port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write(
    `GET ${PODS}/web/proxy/socket?a=b HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: ` +
    'websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nhello'
  )
  let text = ''
  socket.setEncoding('utf8')
  while (!text.endsWith('hello')) text += String((await once(socket, 'data'))[0])
  t.match(text, /^HTTP\/1\.1 101 /)
  t.match(pod.asked[0], {
    url: '/socket?a=b',
    headers: { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
  })
})

t.test('an upgraded connection that the pod breaks off is logged with its audit ID', async t => {
  const sockets: Socket[] = []
  const pod = createServer().on('upgrade', (request, socket: Socket, head: Buffer) => {
    sockets.push(socket)
    echo(request, socket, head)
  }).listen(0, '127.0.0.1')
  await once(pod, 'listening')
  t.teardown(() => pod.close())
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, nearby)
  await app.listen({ port: 0, host: '127.0.0.1' })
  await podAt(client(app), (pod.address() as AddressInfo).port)
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write(
    `GET ${PODS}/web/proxy/ HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\nAudit-ID: the-id\r\n\r\nhello`
  )
  let text = ''
  socket.setEncoding('utf8')
  while (!text.endsWith('hello')) text += String((await once(socket, 'data'))[0])
  sockets[0]?.resetAndDestroy()
  await once(socket, 'close')
  const logged = lines.filter(line => line.includes('broke off'))
  t.equal(logged.length, 1)
  t.match(JSON.parse(logged[0] ?? '{}'), { auditId: 'the-id', reason: /ECONNRESET/ })
})
