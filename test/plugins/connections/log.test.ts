import t from 'tap'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import Fastify from 'fastify'
import orch from '../../../app.js'
import { build, client, listen, type Test } from '../../build.js'
import { failureOf } from '../../../plugins/shared/forwarding/responses.js'
import { callingAgent, nodeAgent, PODS, withPod } from '../../node-agent.js'

async function read (t: Test, url: string): Promise<IncomingMessage> {
  const request = httpRequest(url, { agent: false })
  t.teardown(() => { request.destroy() })
  request.on('error', () => {})
  request.end()
  const [response] = await once(request, 'response') as [IncomingMessage]
  return response.setEncoding('utf8')
}

t.test('a log is read from the node agent with the options of the client', async t => {
  const agent = await nodeAgent(t, {
    request: (_request, response) => { response.writeHead(200, { 'content-type': 'text/html' }).end('one\ntwo\n') }
  })
  const server = await build(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const plain = await server.get(`${PODS}/web/log`)
  t.match(plain, {
    code: 200,
    body: 'one\ntwo\n',
    headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private', 'audit-id': /-/ }
  })
  t.match(await agent.next(), { method: 'GET', url: '/containerLogs/default/web/main', client: 'orch-apiserver' })
  const options =
    'timestamps=true&tailLines=5&sinceSeconds=10&limitBytes=100&previous=1&container=main&pretty=true&follow=0'
  t.equal((await server.get(`${PODS}/web/log?${options}`)).code, 200)
  t.equal(
    (await agent.next()).url,
    '/containerLogs/default/web/main?limitBytes=100&previous=true&sinceSeconds=10&tailLines=5&timestamps=true'
  )
  t.equal((await server.get(`${PODS}/web/log?follow&sinceTime=2022-01-01T01:00:00.5%2B01:00`)).code, 200)
  t.equal((await agent.next()).url, '/containerLogs/default/web/main?follow=true&sinceTime=2022-01-01T00%3A00%3A00Z')
  t.equal((await server.get(`${PODS}/web/log`, { accept: 'text/plain' })).code, 200, 'whatever it accepts')
})

t.test('invalid options of a log, and pods that have none, are refused by name', async t => {
  const agent = await nodeAgent(t, {})
  const server = await build(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  await withPod(server, agent.port, {
    name: 'two', containers: ['a', 'b'], initContainers: [{ name: 'before', image: 'i' }]
  })
  await withPod(server, agent.port, { name: 'waiting', node: '' })
  await withPod(server, agent.port, { name: 'lost', nodeName: 'gone' })
  t.match(await server.get(`${PODS}/nobody/log`), {
    code: 404, json: { message: 'pods "nobody" not found', details: { name: 'nobody', kind: 'pods' } }
  })
  for (const [query = '', message] of [
    ['two/log', 'a container name must be specified for pod two, choose one of: [before a b]'],
    ['web/log?container=other', 'container other is not valid for pod web'],
    ['web/log?tailLines=many', '"many" is no integer of 64 bits'],
    ['web/log?limitBytes=', '"" is no integer of 64 bits'],
    ['web/log?sinceSeconds=9223372036854775808', '"9223372036854775808" is no integer of 64 bits'],
    ['web/log?sinceTime=yesterday', '"yesterday" is no time such as 2022-01-31T12:00:00Z'],
    ['web/log?sinceTime=2022-01-01', '"2022-01-01" is no time such as 2022-01-31T12:00:00Z']
  ]) t.match(await server.get(`${PODS}/${query}`), { code: 400, json: { reason: 'BadRequest', message } }, query)
  for (const [query, message, causes] of [
    [
      'tailLines=-1',
      'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
      [{ reason: 'FieldValueInvalid', field: 'tailLines' }]
    ],
    [
      'limitBytes=0', 'PodLogOptions "web" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
      [{ field: 'limitBytes' }]
    ],
    [
      'sinceSeconds=0', 'PodLogOptions "web" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
      [{ field: 'sinceSeconds' }]
    ],
    [
      'sinceSeconds=1&sinceTime=2022-01-01T00:00:00Z',
      'PodLogOptions "web" is invalid: : Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
      [{ reason: 'FieldValueForbidden', field: undefined }]
    ]
  ] as const) {
    const details = { kind: 'PodLogOptions', name: 'web', causes }
    t.match(
      await server.get(`${PODS}/web/log?${query}`), { code: 422, json: { reason: 'Invalid', message, details } }, query
    )
  }
  t.match(await server.get(`${PODS}/waiting/log`), { code: 204, body: '' }, 'a pod without a node has no log')
  t.match(await server.get(`${PODS}/lost/log`), { code: 404, json: { message: 'nodes "gone" not found' } })
  t.equal((await server.get(`${PODS}/two/log?container=before`)).code, 200)
  t.same(
    agent.asked.map(({ url }) => url), ['/containerLogs/default/two/before'],
    'the refused requests did not reach the agent'
  )
})

t.test('the client receives the errors of the node agent', async t => {
  let answer: [number, string, Record<string, string>?] = [500, '']
  const agent = await nodeAgent(t, {
    request: (_request, response) => { response.writeHead(answer[0], answer[2]).end(answer[1]) }
  })
  const server = await build(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const about = { details: { name: 'web', kind: 'pods/log' } }
  for (const [given, code, status] of [
    [
      [400, 'container "main" in pod "web" is waiting to start: ContainerCreating'], 400,
      { reason: 'BadRequest', message: 'container "main" in pod "web" is waiting to start: ContainerCreating' }
    ],
    [
      [404, 'x'], 404,
      { reason: 'NotFound', message: 'the server could not find the requested resource ( pods/log web)', ...about }
    ],
    [
      [403, 'Forbidden (user=a)'], 403, { reason: 'Forbidden', message: 'Forbidden (user=a) ( pods/log web)', ...about }
    ],
    [
      [500, 'bad disk'],
      500,
      {
        reason: 'InternalError',
        message: 'Internal error occurred: bad disk',
        details: { causes: [{ message: 'bad disk' }] }
      }
    ],
    [
      [501, 'odd'],
      501,
      {
        reason: 'InternalError',
        message: 'an error on the server ("odd") has prevented the request from succeeding ( pods/log web)',
        ...about
      }
    ],
    [
      [503, 'x'],
      503,
      {
        reason: 'ServiceUnavailable',
        message: 'the server is currently unable to handle the request ( pods/log web)',
        ...about
      }
    ],
    [
      [302, '', { location: '/elsewhere' }],
      500,
      {
        reason: undefined,
        message: /^Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/default\/web\/main": redirects forbidden$/
      }
    ]
  ] as const) {
    answer = [...given] as unknown as typeof answer
    t.match(await server.get(`${PODS}/web/log`), { code, json: { kind: 'Status', code, ...status } }, String(given[0]))
  }
})

t.test('the certificate of the node agent is verified unless the client skips that', async t => {
  const agent = await nodeAgent(t, { request: (_request, response) => { response.end('said\n') } })
  const other = await nodeAgent(t, {})
  const doubting = await build(t, {
    connections: callingAgent({ ...agent, files: { ...agent.files, authority: other.files.authority } })
  })
  await withPod(doubting, agent.port)
  t.match(await doubting.get(`${PODS}/web/log`), {
    code: 500,
    json: { reason: undefined, message: /^Get "https:.*": its certificate is signed by an unknown authority$/ }
  })
  t.match(await doubting.get(`${PODS}/web/log?insecureSkipTLSVerifyBackend=true`), { code: 200, body: 'said\n' })
  const counted = (await doubting.get('/metrics')).body
  t.match(counted, /^orch_apiserver_pod_logs_pods_logs_insecure_backend_total\{usage="enforce_tls"\} 1$/m)
  t.match(counted, /^orch_apiserver_pod_logs_pods_logs_insecure_backend_total\{usage="skip_tls_allowed"\} 1$/m)
  t.match(counted, /^orch_apiserver_pod_logs_pods_logs_backend_tls_failure_total 1$/m)
  const { certificate, key } = agent.files
  const trusting = await build(t, { connections: callingAgent({ files: { certificate, key } }) })
  await withPod(trusting, agent.port)
  t.match(await trusting.get(`${PODS}/web/log`), { code: 200, body: 'said\n' })
  await trusting.patch('/api/v1/nodes/n/status', { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } })
  t.match(await trusting.get(`${PODS}/web/log`), { code: 500, json: { message: /connection refused$/ } })
  await trusting.patch(
    '/api/v1/nodes/n/status', { status: { addresses: [{ type: 'ExternalIP', address: '192.0.2.7' }] } },
    'application/merge-patch+json'
  )
  t.match(await trusting.get(`${PODS}/web/log`), {
    code: 500, json: { message: 'no preferred addresses found; known addresses: [{ExternalIP 192.0.2.7}]' }
  })
})

t.test('a node agent on a loopback or link-local address is not contacted, in any spelling', async t => {
  const agent = await nodeAgent(t, {})
  const server = await build(t, { connections: { ...callingAgent(agent), nearby: false } })
  await withPod(server, agent.port)
  for (const address of ['127.0.0.1', 'localhost', '::ffff:127.0.0.1', '169.254.169.254']) {
    const told = await server.patch(
      '/api/v1/nodes/n/status', { status: { addresses: [{ type: 'InternalIP', address }] } },
      'application/merge-patch+json'
    )
    t.equal(told.code, 200)
    t.match(
      await server.get(`${PODS}/web/log`),
      { code: 400, json: { reason: 'BadRequest', message: 'address not allowed' } }, address
    )
  }
  t.same(agent.asked, [])
})

t.test('a node agent whose host has no address is said in one line of the log', async t => {
  const agent = await nodeAgent(t, {})
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, { connections: callingAgent(agent) })
  const server = client(app)
  await withPod(server, agent.port, { address: 'nowhere.invalid' })
  t.match(await server.get(`${PODS}/web/log`), { code: 500, json: { message: /lookup nowhere\.invalid/ } })
  const [line = ''] = lines.filter(text => text.includes('nowhere.invalid'))
  t.match(JSON.parse(line), { msg: 'another server failed a request', reason: /^node nowhere\.invalid: / })
  t.notMatch(line, /stack|\.js:/)
})

t.test(
  'a followed log is streamed as it is written, and the upstream request ends when the client disconnects', async t => {
    let writing: ServerResponse | undefined
    const agent = await nodeAgent(t, { request: (_request, response) => { (writing = response).flushHeaders() } })
    const server = await listen(t, { connections: callingAgent(agent) })
    await withPod(server, agent.port)
    const response = await read(t, `${server.url}${PODS}/web/log?follow=true`)
    t.equal(response.statusCode, 200)
    for (const line of ['one\n', 'two\n']) {
      writing?.write(line)
      t.same(await once(response, 'data'), [line])
    }
    const { socket } = await agent.next()
    response.destroy()
    if (!socket.destroyed) await once(socket, 'close')
    t.pass('the node agent is left alone')
  }
)

t.test('a log that breaks off is no whole one', async t => {
  const agent = await nodeAgent(t, {
    request: (_request, response) => { response.write('one\n', () => { response.destroy() }) }
  })
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const response = await read(t, `${server.url}${PODS}/web/log`)
  response.resume()
  await t.rejects(once(response, 'end'), { code: 'ECONNRESET' })
})

t.test('a followed log ends with the server', async t => {
  const agent = await nodeAgent(t, { request: (_request, response) => { response.flushHeaders() } })
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const response = await read(t, `${server.url}${PODS}/web/log?follow=true`)
  response.on('error', () => {})
  response.resume()
  const closed = once(response, 'close')
  await server.app.close()
  await closed
  t.pass('the connection is closed at once')
})

t.test('a refusal that does not end is what has come of it', async t => {
  const answer = Object.assign(new PassThrough(), { statusCode: 403 })
  answer.write('not for you')
  const { status } = await failureOf(answer as unknown as IncomingMessage, 'pods/log', 'web', 100)
  t.match(status, { code: 403, reason: 'Forbidden', message: /^not for you/ })
  t.ok(answer.destroyed)
})
