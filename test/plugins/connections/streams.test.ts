import t from 'tap'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { build, listen, type Json, type Test } from '../../build.js'
import { flagged, SERVER_FILES } from '../../flagged-server.js'
import { callingAgent, nodeAgent, PODS, withPod } from '../../node-agent.js'
import { caBundle, hookServer, VALIDATING } from '../../admission/webhooks/hook-server.js'
import { polled } from '../../polled.js'

/** Resolves to the received text once it matches. */
export async function shows (socket: Socket, pattern: RegExp): Promise<string> {
  let text = ''
  for (;;) {
    const chunk = socket.read() as Buffer | null
    if (chunk !== null) text += chunk.toString('latin1')
    if (pattern.test(text)) return text
    if (socket.readableEnded || socket.destroyed) throw new Error(`the connection ended: ${JSON.stringify(text)}`)
    await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')])
  }
}

function opened (t: Test, socket: Socket, method: string, path: string, protocol = 'SPDY/3.1', more = ''): Socket {
  t.teardown(() => { socket.destroy() })
  socket.on('error', () => {})
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: server\r\nConnection: Upgrade\r\nUpgrade: ` +
    `${protocol}\r\nX-Stream-Protocol-Version: v4.channel.orch.io\r\n${more}\r\n`
  )
  return socket
}

const over = (port: number): Socket => connect(port, '127.0.0.1')

function folder (t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-streams-'))
  t.teardown(() => { rmSync(path, { recursive: true, force: true }) })
  for (const [name, content] of Object.entries(SERVER_FILES)) writeFileSync(join(path, name), content)
  return path
}

t.test('a command, an attachment and ports are connections to the node agent', async t => {
  const agent = await nodeAgent(t, {})
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  for (const [method, path, asked] of [
    [
      'POST', 'exec?command=echo&command=a%20b&stdin=true&stdout=true&stderr=false&tty=1&container=main',
      '/exec/default/web/main?command=echo&command=a+b&input=1&output=1&tty=1'
    ],
    ['GET', 'exec?command=ls&stdout&stderr=true', '/exec/default/web/main?command=ls&error=1&output=1'],
    ['POST', 'attach?stdin=true&stdout=true', '/attach/default/web/main?input=1&output=1'],
    ['POST', 'portforward', '/portForward/default/web'],
    ['GET', 'portforward?ports=80&ports=443', '/portForward/default/web?port=80%2C443']
  ] as const) {
    const socket = opened(
      t, over(server.port), method, `${PODS}/web/${path}`, 'SPDY/3.1',
      'Authorization: Basic eDp5\r\nCookie: a=b\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 0\r\n'
    )
    const head = await shows(socket, /\r\n\r\n$/)
    t.equal(
      head,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
      'X-Stream-Protocol-Version: v4.channel.orch.io\r\n\r\n',
      path
    )
    const seen = await agent.next()
    t.match(seen, {
      method,
      url: asked,
      client: 'orch-apiserver',
      headers: {
        upgrade: 'SPDY/3.1',
        connection: 'Upgrade',
        'x-stream-protocol-version': 'v4.channel.orch.io',
        'x-forwarded-for': '192.0.2.1, 127.0.0.1',
        cookie: 'a=b',
        host: 'server'
      }
    })
    t.equal(seen.headers.authorization, undefined)
    socket.write('\x80\x03\x00\x01 raw bytes', 'latin1')
    t.equal(await shows(socket, /bytes$/), '\x80\x03\x00\x01 raw bytes')
    socket.destroy()
    if (!seen.socket.destroyed) await once(seen.socket, 'close')
  }
})

t.test('bytes sent with the request, and large amounts, are forwarded', async t => {
  const agent = await nodeAgent(t, {})
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const socket = opened(t, over(server.port), 'POST', `${PODS}/web/attach`, 'x', '\r\nearly')
  await shows(socket, /early\r\n$/)
  const many = Buffer.alloc(4 * 1024 * 1024, 'abcdefgh')
  socket.write(many)
  let received = 0
  while (received < many.length) {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) await once(socket, 'readable')
    else received += chunk.length
  }
  t.equal(received, many.length)
  socket.end('last')
  await shows(socket, /last$/)
  socket.resume()
  if (!socket.destroyed) await once(socket, 'close')
  t.pass('the end of one side ends the other after all data')
})

t.test('a request without an upgrade, or with an invalid container or option, is refused', async t => {
  const agent = await nodeAgent(t, {})
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  await withPod(server, agent.port, { name: 'two', containers: ['a', 'b'], ephemeralContainers: undefined })
  await withPod(server, agent.port, { name: 'waiting', node: '' })
  for (const [method, path, code, message] of [
    ['POST', 'web/exec?command=ls', 400, 'Upgrade request required'],
    ['GET', 'web/attach', 400, 'Upgrade request required'],
    ['POST', 'web/portforward', 400, 'Upgrade request required'],
    ['POST', 'two/exec?command=ls', 400, 'a container name must be specified for pod two, choose one of: [a b]'],
    ['POST', 'two/attach?container=c', 400, 'container c is not valid for pod two'],
    ['GET', 'waiting/exec', 400, 'pod waiting does not have a host assigned'],
    ['GET', 'waiting/portforward', 400, 'pod waiting does not have a host assigned'],
    ['GET', 'web/portforward?ports=http', 400, '"http" is no integer of 32 bits'],
    ['POST', 'web/exec?command=ls&dryRun=All', 400, 'dryRun is not supported'],
    ['POST', 'web/exec?command=ls&dryRun=', 400, 'dryRun is not supported'],
    ['GET', 'nobody/exec', 404, 'pods "nobody" not found'],
    ['PUT', 'web/exec', 405, 'the server does not allow this method on the requested resource'],
    ['DELETE', 'web/attach', 405, 'the server does not allow this method on the requested resource']
  ] as const) {
    t.match(await server.call(method, `${PODS}/${path}`), { code, json: { kind: 'Status', message } }, path)
    if (code === 400 && message.startsWith('Upgrade')) continue
    const socket = opened(t, over(server.port), method, `${PODS}/${path}`)
    t.ok((await shows(socket, /\}\n$/)).includes(JSON.stringify(message)), `${path} over an upgrade`)
    socket.resume()
    if (!socket.destroyed) await once(socket, 'close')
  }
  t.same(agent.asked, [])
})

t.test('a refusal of the node agent is passed on; an invalid response is not', async t => {
  let said = 'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nno!'
  const agent = await nodeAgent(t, { upgrade: (_request, socket) => { socket.end(said) } })
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const refused = await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec`), /no!$/)
  t.match(refused, /^HTTP\/1\.1 403 Forbidden\r\n/)
  t.match(refused, /content-type: text\/plain\r\n/i)
  said = 'HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n'
  const odd = await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec`), /\}\n$/)
  t.match(odd, /^HTTP\/1\.1 500 /)
  t.match(odd, /"message":"invalid upgrade response: status code 302","code":500\}/)
  await server.patch('/api/v1/nodes/n/status', { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } })
  const unreachable = await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec`), /\}\n$/)
  t.match(unreachable, /"message":"error dialing backend: 127\.0\.0\.1:1: [^"]*connection refused","code":500\}/)
})

t.test('a node agent on this machine is not contacted', async t => {
  const agent = await nodeAgent(t, {})
  const server = await listen(t, { connections: { ...callingAgent(agent), nearby: false } })
  await withPod(server, agent.port)
  for (const path of ['exec?command=ls', 'attach', 'portforward']) {
    const refused = await shows(opened(t, over(server.port), 'POST', `${PODS}/web/${path}`), /\}\n$/)
    t.match(refused, /^HTTP\/1\.1 400 [^]*"message":"address not allowed"/, path)
  }
  t.same(agent.asked, [])
})

t.test('an upgrade is authenticated and authorized like every request', async t => {
  const agent = await nodeAgent(t, {})
  const asked: string[] = []
  const server = await listen(t, {
    connections: callingAgent(agent),
    authentication: { tokens: 'secret,ann,1\nother,eve,2\n' },
    authorization: {
      modes: ['AlwaysDeny'],
      authorizers: [{
        name: 'ann',
        authorize: ({ user, info }) => {
          if (info.subresource !== '') {
            asked.push([user.username, info.verb, info.resource, info.subresource, info.namespace, info.name].join(' '))
          }
          return { decision: user.username === 'ann' || !info.isResourceRequest ? 'Allow' : 'NoOpinion' }
        }
      }]
    }
  })
  const call = (method: string, token: string) => opened(
    t, over(server.port), method, `${PODS}/web/exec`, 'SPDY/3.1',
    token === '' ? '' : `Authorization: Bearer ${token}\r\n`
  )
  t.match(await shows(call('POST', ''), /\}\n$/), /^HTTP\/1\.1 403 [^]*User \\"system:anonymous\\" cannot create/)
  t.match(await shows(call('POST', 'wrong'), /\}\n$/), /^HTTP\/1\.1 401 /)
  t.match(await shows(call('POST', 'other'), /\}\n$/), /^HTTP\/1\.1 403 [^]*cannot create resource \\"pods\/exec\\"/)
  t.match(await shows(call('GET', 'other'), /\}\n$/), /^HTTP\/1\.1 403 [^]*cannot get resource \\"pods\/exec\\"/)
  t.match(await shows(call('GET', 'secret'), /\}\n$/), /^HTTP\/1\.1 404 /)
  t.same(asked, [
    'system:anonymous create pods exec default web', 'eve create pods exec default web',
    'eve get pods exec default web', 'ann get pods exec default web'
  ])
  t.same(agent.asked, [])
})

t.test('a WebSocket may carry its token among its subprotocols, which is not forwarded', async t => {
  const agent = await nodeAgent(t, {})
  const server = await listen(t, {
    connections: callingAgent(agent),
    authentication: { tokens: 's\u00e9cret,ann,1\n' },
    authorization: {
      authorizers: [
        {
          name: 'ann',
          authorize: ({ user, info }) => ({
            decision: user.username === 'ann' || !info.resource.startsWith('pods') || info.verb !== 'get'
              ? 'Allow'
              : 'NoOpinion'
          })
        }
      ],
      modes: ['AlwaysDeny']
    }
  })
  await withPod(server, agent.port)
  const encoded = Buffer.from('s\u00e9cret').toString('base64url')
  const call = (protocols: string, protocol = 'websocket') => opened(
    t, over(server.port), 'GET', `${PODS}/web/exec`, protocol,
    protocols.split('|').map(one => `Sec-WebSocket-Protocol: ${one}\r\n`).join('')
  )
  for (const name of ['orch', 'k8s']) {
    for (const protocols of [
      `v4.channel.orch.io, base64url.bearer.authorization.${name}.io.${encoded}`,
      `base64url.bearer.authorization.${name}.io.${encoded}|v4.channel.orch.io`
    ]) {
      t.match(await shows(call(protocols), /\r\n\r\n$/), /^HTTP\/1\.1 101 /, protocols)
      t.equal((await agent.next()).headers['sec-websocket-protocol'], 'v4.channel.orch.io')
    }
  }
  const wrong = Buffer.from('wrong').toString('base64url')
  for (const protocols of [
    `base64url.bearer.authorization.orch.io.${encoded}`, `a, base64url.bearer.authorization.orch.io.${wrong}`,
    'a, base64url.bearer.authorization.orch.io.', 'a, base64url.bearer.authorization.orch.io._w',
    `a, base64url.bearer.authorization.orch.io.${encoded}, base64url.bearer.authorization.orch.io.${encoded}`,
    `a, base64url.bearer.authorization.other.${encoded}`
  ]) t.match(await shows(call(protocols), /\}\n$/), /^HTTP\/1\.1 401 /, protocols)
  t.match(
    await shows(call(`a, base64url.bearer.authorization.orch.io.${encoded}`, 'SPDY/3.1'), /\}\n$/), /^HTTP\/1\.1 401 /,
    'it is for WebSockets'
  )
  t.equal(agent.asked.length, 4)
})

t.test('when the client disconnects before the response, the request to the node agent ends', async t => {
  const agent = await nodeAgent(t, { upgrade: () => {} })
  const server = await listen(t, {
    connections: { nearby: true, nodeAgents: { ...callingAgent(agent).nodeAgents, timeout: 600_000 } }
  })
  await withPod(server, agent.port)
  const socket = opened(t, over(server.port), 'POST', `${PODS}/web/exec`)
  const { socket: behind } = await agent.next()
  socket.end()
  behind.resume()
  if (!behind.destroyed) await once(behind, 'close')
  t.match(
    (await server.get('/metrics')).body,
    /^apiserver_longrunning_requests\{verb="CONNECT",[^}]*subresource="exec"[^}]*\} 0$/m
  )
})

t.test('connections are audited', async t => {
  const agent = await nodeAgent(t, {})
  const path = join(folder(t), 'audit.log')
  const server = await listen(t, { connections: callingAgent(agent), audit: { path } })
  await withPod(server, agent.port)
  const socket = opened(t, over(server.port), 'POST', `${PODS}/web/exec?command=ls`)
  await shows(socket, /\r\n\r\n$/)
  socket.destroy()
  await polled(() => /"stage":"ResponseComplete"[^\n]*"subresource":"exec"/.test(readFileSync(path, 'utf8')))
  const events = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as {
      stage: string
      verb: string
      objectRef?: { subresource?: string }
      responseStatus?: { code: number }
      requestURI: string
    })
  t.match(events.filter(({ objectRef }) => objectRef?.subresource === 'exec'), [
    { stage: 'RequestReceived', verb: 'create', requestURI: `${PODS}/web/exec?command=ls` },
    { stage: 'ResponseStarted', responseStatus: { code: 101 } },
    { stage: 'ResponseComplete', responseStatus: { code: 101 } }
  ])
})

t.test('admission plugins are called for operation CONNECT and may change the options', async t => {
  const agent = await nodeAgent(t, {})
  const seen: unknown[] = []
  const server = await listen(t, {
    connections: callingAgent(agent),
    admission: {
      plugins: [{
        name: 'Watcher',
        handles: [{ operations: ['CONNECT'], groups: [''], resources: ['pods/exec'] }],
        mutate: ({ object }) => { if (object !== undefined) object['command'] = ['true'] },
        validate: ({ operation, kind, requested, resource, subresource, namespace, name, object, oldObject }) => {
          seen.push({
            operation,
            kind,
            requested: requested.kind,
            resource,
            subresource,
            namespace,
            name,
            object: { ...object },
            oldObject
          })
          if (object?.['stdin'] === true) throw Object.assign(new Error('no input'), {})
        }
      }]
    }
  })
  await withPod(server, agent.port)
  await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec?command=false`), /\r\n\r\n$/)
  t.equal((await agent.next()).url, '/exec/default/web/main?command=true')
  t.match(await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec?stdin=true`), /\}\n$/), /^HTTP\/1\.1 500 /)
  t.match(seen[0], {
    operation: 'CONNECT',
    kind: 'PodExecOptions',
    requested: 'PodExecOptions',
    resource: 'pods',
    subresource: 'exec',
    namespace: 'default',
    name: 'web',
    object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['true'] },
    oldObject: undefined
  })
  t.equal(agent.asked.length, 1)
})

t.test('webhooks are called for connections, with their options as the object', async t => {
  const agent = await nodeAgent(t, {})
  const hook = await hookServer(t, ({ request: { object } }) =>
    (object as Json).stdin === true ? { allowed: false, status: { message: 'nobody types here' } } : { allowed: true })
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const made = await server.post(VALIDATING, {
    metadata: { name: 'no-typing' },
    webhooks: [{
      name: 'no-typing.example.com', clientConfig: { url: hook.url, caBundle },
      rules: [
        { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec', 'pods/attach'] }
      ],
      sideEffects: 'None', admissionReviewVersions: ['v1']
    }]
  })
  t.equal(made.code, 201, made.body)
  const refused = async (): Promise<string> =>
    await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec?command=sh&stdin=true`), /\r\n\r\n$|\}\n$/)
  let answer = await refused()
  while (answer.startsWith('HTTP/1.1 101')) answer = await refused() // the configuration is not known yet
  t.match(
    answer, /^HTTP\/1\.1 400 [^]*admission webhook \\"no-typing\.example\.com\\" denied the request: nobody types here/
  )
  t.match(
    await shows(opened(t, over(server.port), 'POST', `${PODS}/web/exec?command=ls`), /\r\n\r\n$/), /^HTTP\/1\.1 101 /
  )
  t.match(hook.asked.at(-1), {
    request: {
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
      resource: { resource: 'pods' },
      subResource: 'exec',
      operation: 'CONNECT',
      name: 'web',
      namespace: 'default',
      object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['ls'] },
      oldObject: null,
      options: null
    }
  })
})

t.test('over TLS, from flags, after other requests on the connection', async t => {
  const agent = await nodeAgent(t, {})
  const server = await flagged(t, folder(t), agent.flags, { connections: { nearby: true } })
  await withPod(server, agent.port)
  const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.write('GET /version HTTP/1.1\r\nHost: server\r\n\r\n')
  await shows(socket, /"gitVersion"[^]*\}\n$/)
  opened(t, socket, 'POST', `${PODS}/web/exec?command=ls`)
  t.match(await shows(socket, /\r\n\r\n$/), /^HTTP\/1\.1 101 /)
  t.match(await agent.next(), { client: 'orch-apiserver', url: '/exec/default/web/main?command=ls' })
  socket.write('hello')
  await shows(socket, /hello$/)
  const metrics = (await server.get('/metrics')).body
  t.match(metrics, /^apiserver_longrunning_requests\{verb="CONNECT",[^}]*resource="pods",subresource="exec"[^}]*\} 1$/m)
  socket.destroy()
  const { socket: behind } = agent.asked[0] ?? {}
  if (behind?.destroyed === false) await once(behind, 'close')
  t.match(
    (await server.get('/metrics')).body,
    /^apiserver_request_total\{verb="CONNECT",[^}]*subresource="exec"[^}]*code="101"\} 1$/m
  )
})

t.test('an upgrade to an unknown protocol is answered as a plain request, and its connection ends', async t => {
  const server = await flagged(t, folder(t), [])
  const socket = opened(
    t, connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false }), 'GET', '/version', 'h2c'
  )
  t.match(await shows(socket, /\}\n$/), /^HTTP\/1\.1 200 [^]*connection: close\r\n/i)
  socket.resume()
  if (!socket.destroyed) await once(socket, 'close')
  const body = opened(
    t, connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false }), 'POST', '/api/v1/namespaces',
    'h2c', 'Content-Length: 2\r\n'
  )
  t.match(await shows(body, /\}$/), /^HTTP\/1\.1 400 [^]*may have no body/)
})

t.test('over HTTP/2 nothing can be upgraded', async t => {
  const agent = await nodeAgent(t, {})
  const server = await flagged(t, folder(t), agent.flags, { connections: { nearby: true } })
  await withPod(server, agent.port)
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  t.teardown(() => { session.destroy() })
  const stream = session.request({ ':method': 'POST', ':path': `${PODS}/web/exec?command=ls` })
  stream.end()
  const [head] = await once(stream, 'response')
  t.match(head, { ':status': 400 })
})

t.test('tunnels end with the server', async t => {
  const agent = await nodeAgent(t, {})
  const server = await listen(t, { connections: callingAgent(agent) })
  await withPod(server, agent.port)
  const socket = opened(t, over(server.port), 'POST', `${PODS}/web/exec`)
  await shows(socket, /\r\n\r\n$/)
  socket.resume()
  await Promise.all([server.app.close(), socket.destroyed ? undefined : once(socket, 'close')])
  t.equal(server.app.server.listening, false)
})

t.test('incomplete files fail the start with a reason', async t => {
  await t.rejects(
    build(t, { connections: { nodeAgents: { files: { authority: '/nowhere/ca.crt' } } } }),
    { message: /^client of node agents cannot start: \/nowhere\/ca\.crt cannot be read: there is no such file/ }
  )
})
