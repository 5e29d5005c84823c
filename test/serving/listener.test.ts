import t from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { answerBadRequest } from '../../serving/client-errors.js'
import { createListener, type Listener } from '../../serving/listener.js'
import { originForm } from '../../serving/refusals.js'
import type { Test } from '../plugins/bare-server.js'
import { ruleBreaker } from '../rule-breaker.js'
import { authority } from './authority.js'
import { ownTime } from '../own-time.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

interface Built { listener: Listener, port: number, url: string, held: Array<ServerResponse> }

async function build (
  test: Test, { requestTimeout = 60_000, maxStreams = 0, idle = 60_000, http1Only = false } = {}
): Promise<Built> {
  const held: ServerResponse[] = []
  const listener = createListener((request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/held') {
      response.writeHead(200)
      response.write('begun,')
      held.push(response)
      return
    }
    request.resume()
    request.on('end', () => response.end(`${request.httpVersion} ${request.method}`))
  }, { tls: { cert: pair.certificate, key: pair.key }, maxStreams, requestTimeout, idle, http1Only })
  // As Fastify does it.
  const emitter: NodeJS.EventEmitter = listener.server
  emitter.on('clientError', answerBadRequest)
  await new Promise<void>(resolve => { listener.server.listen(0, '127.0.0.1', resolve) })
  test.teardown(() => {
    listener.stop()
    listener.destroy()
  })
  const { port } = listener.server.address() as AddressInfo
  return { listener, port, url: `https://127.0.0.1:${port}`, held }
}

async function get (
  port: number, path: string, agent: Agent
): Promise<{ status: number | undefined, body: string, connection: string | undefined }> {
  const call = httpsRequest({ port, host: '127.0.0.1', path, agent, rejectUnauthorized: false })
  call.end()
  const [response] = await once(call, 'response') as [IncomingMessage]
  let body = ''
  for await (const piece of response) body += String(piece)
  return { status: response.statusCode, body, connection: response.headers.connection }
}

function open (test: Test, url: string): ClientHttp2Session {
  const session = connectHttp2(url, { rejectUnauthorized: false })
  session.on('error', () => {})
  test.teardown(() => session.destroy())
  return session
}

async function raw (test: Test, port: number, text: string): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => {})
  test.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.write(text)
  return socket
}

async function readAll (stream: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const piece of stream) text += String(piece)
  return text
}

t.test('HTTP/1.1 and HTTP/2 are served on one port', async t => {
  const { port, url } = await build(t)
  const agent = new Agent({ keepAlive: false })
  t.equal((await get(port, '/', agent)).body, '1.1 GET')
  const stream = open(t, url).request({ ':path': '/' })
  t.equal(await readAll(stream), '2.0 GET')
})

t.test('nothing waits for what was sent before it to be acknowledged', async t => {
  const { listener } = await build(t)
  t.match(listener.server, { noDelay: true })
})

t.test('input that is not HTTP is answered with a Status and the connection closed', async t => {
  const { port } = await build(t)
  for (const [text, code, reason] of [
    ['nonsense\r\n\r\n', 400, 'BadRequest'],
    ['GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n', 400, 'BadRequest'],
    ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'BadRequest'],
    ['BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BadRequest'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(70_000)}\r\n\r\n`, 431, 'BadRequest']
  ] as const) {
    const answer = await readAll(await raw(t, port, text))
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    t.match(head, new RegExp(`^HTTP/1.1 ${code} `), text.slice(0, 40))
    t.match(JSON.parse(body), { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code })
  }
  const agent = new Agent()
  t.equal((await get(port, '/', agent)).status, 200, 'the next request is served as if nothing had happened')
})

t.test('a client that goes on sending after invalid input can still read the answer, for a moment', async t => {
  const { port } = await build(t)
  const socket = await raw(t, port, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(70_000)}`)
  socket.pause() // it reads nothing before it has sent everything
  for (let piece = 0; piece < 10; piece++) {
    await new Promise(resolve => { setTimeout(resolve, 10) })
    socket.write('y'.repeat(20_000))
  }
  const since = ownTime()
  t.match(await readAll(socket), /^HTTP\/1.1 431 /)
  // Its own end closes the connection, and so does the server after a second.
  const silent = await raw(t, port, 'nonsense\r\n\r\n')
  silent.resume()
  await once(silent, 'close')
  t.ok(ownTime() - since < 10_000)
})

t.test('invalid input ends a response in progress, and nothing is written into it', async t => {
  const { port } = await build(t)
  for (const between of ['', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const socket = await raw(t, port, 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n')
    const [begun] = await once(socket, 'data') as [Buffer]
    socket.write(`${between}nonsense\r\n\r\n`)
    const answer = `${String(begun)}${await readAll(socket).catch(() => '')}`
    t.match(answer, /begun,\r\n$/)
    t.notMatch(answer, 'HTTP/1.1 400')
  }
})

t.test('a body that does not arrive in time ends its request', async t => {
  const { port } = await build(t, { requestTimeout: 100 })
  const socket = await raw(t, port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab')
  t.match(await readAll(socket), /^HTTP\/1.1 408 /)
})

t.test('headers without end are refused over HTTP/2 too', async t => {
  const { url } = await build(t)
  const session = open(t, url)
  const flood = session.request({
    ':path': '/', ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, 'y']))
  })
  await t.rejects(once(flood, 'close'), /ENHANCE_YOUR_CALM/)
  const other = open(t, url).request({ ':path': '/' })
  t.equal(await readAll(other), '2.0 GET')
})

t.test('an unknown method is refused over HTTP/2 too', async t => {
  const { url } = await build(t)
  const stream = open(t, url).request({ ':path': '/', ':method': 'BREW' })
  const [headers] = await once(stream, 'response') as [Record<string, unknown>]
  t.equal(headers[':status'], 405)
  t.match(JSON.parse(await readAll(stream)), { kind: 'Status', reason: 'MethodNotAllowed', code: 405 })
})

t.test('a request target means the same path to every parser', async t => {
  t.equal(originForm('/a?b=c'), '/a?b=c')
  t.equal(originForm('*'), '*')
  t.equal(originForm('https://host:1/a?b'), '/a?b')
  t.equal(originForm('HTTP://host'), '/')
  t.equal(originForm('http://host?x'), '/?x')
  t.equal(originForm('https://user:word@[fe80::1%25eth0]:443/a'), '/a')
  t.equal(originForm('http://a%20b-1.example:/a'), '/a')
  for (const bad of [
    '/a#b', '#', 'a', '', 'host:443', 'ftp://host/a', 'https:///a', 'https://h/a#b', 'https://[::1/a', 'https://h]/a',
    'https://h:x/a',
    'https://%zz/a', 'https://a@b@c/', 'https://h:1:2/'
  ]) t.equal(originForm(bad), undefined, bad)
  const { port } = await build(t)
  for (const [target, code] of [['https://x/a', 200], ['/a#b', 400]] as const) {
    const answer = await readAll(await raw(t, port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))
    t.match(answer, new RegExp(`^HTTP/1.1 ${code} `), target)
  }
})

t.test('a client may open a limited number of streams', async t => {
  for (const [maxStreams, streams] of [[7, 7], [0, 250]] as const) {
    const { url } = await build(t, { maxStreams })
    const session = open(t, url)
    await once(session, 'remoteSettings')
    t.equal(session.remoteSettings.maxConcurrentStreams, streams)
  }
})

t.test('an idle connection is closed, and one in use is not', async t => {
  const { url, held } = await build(t, { idle: 150 })
  const unused = open(t, url)
  const used = open(t, url)
  const pinging = open(t, url)
  const streaming = used.request({ ':path': '/held' })
  const streamed = readAll(streaming)
  const pings = setInterval(() => { if (!pinging.destroyed) pinging.ping(() => {}) }, 20)
  t.teardown(() => clearInterval(pings))
  await once(unused, 'close')
  await new Promise(resolve => setTimeout(resolve, 300))
  t.same([used.destroyed, pinging.destroyed], [false, false])
  held[0]?.end('done')
  t.equal(await streamed, 'begun,done')
  await once(used, 'close')
  clearInterval(pings)
  await once(pinging, 'close')
})

t.test('a response whose connection failed silently ends, and one whose client listens continues', async t => {
  const { url, port, held } = await build(t, { idle: 150 })
  const streaming = open(t, url).request({ ':path': '/held' })
  const streamed = readAll(streaming)
  await once(streaming, 'response')
  const socket = await ruleBreaker(t, port, '/held')
  // Node 26 closes such a connection itself, before it passes the request on.
  while (held.length < 2 && !socket.destroyed) await new Promise(resolve => { setTimeout(resolve, 5) })
  socket.destroy()
  // newer versions of Node report it themselves
  while (held.length === 2 && held[1]?.destroyed !== true) await new Promise(resolve => { setTimeout(resolve, 5) })
  await new Promise(resolve => { setTimeout(resolve, 300) })
  t.notOk(held[0]?.destroyed, 'the response of a client that answers pings stays open')
  held[0]?.end('done')
  t.equal(await streamed, 'begun,done')
})

t.test('stop closes idle connections, lets requests finish and accepts no new ones', async t => {
  const { listener, port, url, held } = await build(t)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.equal((await get(port, '/', agent)).status, 200) // leaves an idle connection
  const [idle] = Object.values(agent.freeSockets).flatMap(sockets => sockets ?? [])
  t.ok(idle)
  const session = open(t, url)
  const streaming = session.request({ ':path': '/held' })
  const streamed = readAll(streaming)
  const busy = get(port, '/held', new Agent({ keepAlive: true }))
  while (held.length < 2) await new Promise(resolve => setTimeout(resolve, 5))
  const idleSession = open(t, url)
  await once(idleSession, 'remoteSettings')

  const gone = [idle === undefined ? undefined : once(idle, 'close'), once(idleSession, 'close')]
  listener.stop()
  listener.stop()
  await Promise.all(gone)
  await t.rejects(get(port, '/', new Agent()), /ECONNREFUSED/)
  t.equal(session.destroyed, false)
  for (const response of held) response.end('done')
  t.equal(await streamed, 'begun,done')
  t.equal((await busy).body, 'begun,done')
  await listener.closed(10_000)
})

t.test('a request on its way when the server stops is served, not reset', async t => {
  const { listener, port, url } = await build(t)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.equal((await get(port, '/', agent)).status, 200)
  const session = open(t, url)
  t.equal(await readAll(session.request({ ':path': '/' })), '2.0 GET')
  const late = session.request({ ':path': '/' })
  await new Promise(resolve => setImmediate(resolve)) // now its bytes are written, and not yet read by the server
  listener.stop()
  const [reused, streamed] = await Promise.all([get(port, '/', agent), readAll(late)])
  t.equal(reused.status, 200)
  t.equal(streamed, '2.0 GET')
  await listener.closed(10_000)
})

t.test('destroy ends what does not end by itself', async t => {
  const { listener, port, held } = await build(t)
  const call = get(port, '/held', new Agent({ keepAlive: true }))
  while (held.length < 1) await new Promise(resolve => setTimeout(resolve, 5))
  listener.stop()
  await listener.closed(20)
  listener.destroy()
  await t.rejects(call, /aborted|socket hang up|ECONNRESET/)
})

t.test('without HTTP/2 a client that has both gets HTTP/1.1, and one that has only HTTP/2 nothing', async t => {
  const { port } = await build(t, { http1Only: true })
  const both = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] })
  await once(both, 'secureConnect')
  t.equal(both.alpnProtocol, 'http/1.1')
  both.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  t.match(String(await once(both, 'data')), /^HTTP\/1\.1 200 OK/)
  const modern = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await t.rejects(once(modern, 'secureConnect'))
})
