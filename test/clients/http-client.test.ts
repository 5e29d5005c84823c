import t from 'tap'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createHttps, type ServerOptions as HttpsOptions } from 'node:https'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isClientError } from '../../clients/errors.js'
import { HttpClient, type HttpClientOptions } from '../../clients/http-client.js'
import { NO_CREDENTIALS, type CallerCredentials, type Endpoint } from '../../clients/kubeconfig.js'
import { authority } from '../serving/authority.js'

type Test = Pick<typeof t, 'teardown'>

const ca = authority()
const pair = ca.issue({ commonName: 'peer', names: ['localhost'], uses: ['server'] })
const other = authority('another')

const endpoint = (
  server: string, more: Partial<Endpoint> = {}, credentials: Partial<CallerCredentials> = {}
): Endpoint =>
  ({
    server: new URL(server),
    authority: undefined,
    insecure: false,
    serverName: undefined,
    proxy: undefined,
    ...more,
    credentials: { ...NO_CREDENTIALS, ...credentials }
  })

function clientOf (t: Test, of: Endpoint, options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = new HttpClient({ caller: 'tester', endpoint: of, ...options })
  t.teardown(() => client.close())
  return client
}

/** A peer that sends raw bytes. */
async function raw (t: Test, serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends these bytes in response to each request. */
const says = (t: Test, ...answers: string[]): Promise<string> =>
  raw(t, socket => { socket.on('data', () => { socket.write(answers.shift() ?? '') }) })

async function listen (t: Test, server: Server): Promise<number> {
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
const http = async (t: Test, handler: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(t, createHttp(handler))}`
const https = async (t: Test, handler: RequestListener, options: HttpsOptions = {}): Promise<string> =>
  `https://localhost:${await listen(t, createHttps({ cert: pair.certificate, key: pair.key, ...options }, handler))}`

/** A connection can be reused in the turn after its response. */
const idle = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

t.test('calls share a connection, and their bodies arrive', async t => {
  const seen: IncomingMessage[] = []
  const bodies: string[] = []
  const url = await http(t, (request, reply) => {
    seen.push(request)
    let text = ''
    request.on('data', (piece: Buffer) => { text += piece.toString() }).on('end', () => {
      bodies.push(text)
      reply.end('{"a":1}')
    })
  })
  const client = clientOf(t, endpoint(`${url}/base/`, {}, { token: 'secret' }))
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  t.same(await client.json({ method: 'POST', path: '/x?timeout=1s', body: '{}', traceparent }), { a: 1 })
  await idle()
  await client.call({ method: 'GET', traceparent: 'x\r\nevil: 1' })
  t.match(seen[0], {
    method: 'POST',
    url: '/base/x?timeout=1s',
    headers: {
      authorization: 'Bearer secret',
      traceparent,
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'orch-apiserver'
    }
  })
  t.equal(seen[1]?.url, '/base')
  t.notOk('traceparent' in (seen[1]?.headers ?? {}), 'one that is not well-formed is left out')
  t.same(bodies, ['{}', ''])
  t.ok(seen[0]?.socket === seen[1]?.socket)
})

t.test('a peer that is missing or hangs up is unreachable', async t => {
  const url = await raw(t, socket => { socket.on('data', () => { socket.resetAndDestroy() }) })
  await t.rejects(clientOf(t, endpoint(url)).call({ method: 'GET' }), {
    code: 'Unreachable', message: `tester: ${url}: connection reset by the peer`
  })
  const closed = await raw(t, () => {})
  const nobody = createServer().listen(0, '127.0.0.1')
  await once(nobody, 'listening')
  const { port } = nobody.address() as AddressInfo
  nobody.close()
  await once(nobody, 'close')
  t.ok(closed)
  await t.rejects(clientOf(t, endpoint(`http://127.0.0.1:${port}`)).call({ method: 'GET' }), {
    code: 'Unreachable', message: `tester: http://127.0.0.1:${port}: connection refused`
  })
})

t.test('a peer that hangs ends in a timeout: before the response, within it, and in total', async t => {
  const silent = await raw(t, () => {})
  await t.rejects(clientOf(t, endpoint(silent), { headersTimeout: 50 }).call({ method: 'GET' }), {
    code: 'Timeout', message: /no answer in time/
  })
  const stops = await says(t, 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
  await t.rejects(clientOf(t, endpoint(stops), { bodyTimeout: 50 }).call({ method: 'GET' }), {
    code: 'Timeout', message: /the answer stopped coming/
  })
  const drips = await raw(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const timer = setInterval(() => { socket.write('.') }, 5)
    socket.on('close', () => { clearInterval(timer) })
  })
  await t.rejects(
    clientOf(t, endpoint(drips), { bodyTimeout: 1000, deadline: 100 }).call({ method: 'GET' }),
    { code: 'Timeout', message: `tester: ${drips}: no whole answer within 100 ms` }
  )
  const noTls = await raw(t, () => {})
  await t.rejects(
    clientOf(t, endpoint(noTls.replace('http:', 'https:')), { connectTimeout: 50 }).call({ method: 'GET' }),
    { code: 'Timeout', message: /no connection in time/ }
  )
})

t.test('a response that is too large is not read', async t => {
  const said = await says(t, 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n')
  await t.rejects(clientOf(t, endpoint(said), { maxResponseBytes: 10 }).call({ method: 'GET' }), {
    code: 'TooLarge', message: `tester: ${said}: the answer has more than 10 bytes`
  })
  let closed = (): void => {}
  const gone = new Promise<void>(resolve => { closed = resolve })
  const endless = await http(t, (_request, reply) => {
    reply.on('close', () => { closed() })
    const more = (): void => { while (reply.write(Buffer.alloc(65536))); reply.once('drain', more) }
    more()
  })
  await t.rejects(
    clientOf(t, endpoint(endless), { maxResponseBytes: 100_000 }).call({ method: 'GET' }), { code: 'TooLarge' }
  )
  await gone // its connection is closed
  const headers = await says(t, `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`)
  await t.rejects(clientOf(t, endpoint(headers)).call({ method: 'GET' }), { code: 'TooLarge', message: /headers/ })
  const exact = await says(t, OK)
  t.equal((await clientOf(t, endpoint(exact), { maxResponseBytes: 2 }).call({ method: 'GET' })).body.toString(), 'ok')
})

t.test('an invalid response is an error', async t => {
  const short = await raw(t, socket => {
    socket.on('data', () => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf') })
  })
  await t.rejects(clientOf(t, endpoint(short)).call({ method: 'GET' }), { code: /Unreachable|BadAnswer/ })
  const noHttp = await says(t, 'SSH-2.0-OpenSSH\r\n')
  await t.rejects(clientOf(t, endpoint(noHttp)).call({ method: 'GET' }), {
    code: 'BadAnswer', message: `tester: ${noHttp}: the answer is not valid HTTP`
  })
  const twice = await says(t, 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd')
  await t.rejects(clientOf(t, endpoint(twice)).call({ method: 'GET' }), { code: 'BadAnswer' })
  const zipped = await says(t, 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok')
  await t.rejects(clientOf(t, endpoint(zipped)).call({ method: 'GET' }), {
    code: 'BadAnswer', message: /encoded as "gzip"/
  })
  const text = await says(t, OK)
  await t.rejects(clientOf(t, endpoint(text)).json({ method: 'GET' }), { code: 'BadAnswer', message: /not JSON/ })
  for (const [body, message] of [
    ['['.repeat(2000) + ']'.repeat(2000), /nests more than 1000 levels/],
    [`[${'1,'.repeat(60_000)}1]`, /holds more than 50000 values/]
  ] as const) {
    const large = await says(t, `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await t.rejects(clientOf(t, endpoint(large)).json({ method: 'GET' }), { code: 'BadAnswer', message })
  }
})

t.test('surplus bytes after a response are not taken for the next response', async t => {
  const evil = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
  const url = await raw(t, socket => { socket.once('data', () => { socket.write(OK + evil) }) })
  const client = clientOf(t, endpoint(url), { headersTimeout: 200 })
  t.equal((await client.call({ method: 'GET' })).body.toString(), 'ok')
  t.equal((await client.call({ method: 'GET' })).body.toString(), 'ok', 'over another connection')
})

t.test('a redirect is not followed, and an error contains the response status', async t => {
  let followed = false
  const url = await http(t, (request, reply) => {
    if (request.url === '/there') followed = true
    reply.writeHead(307, { location: '/there' }).end()
  })
  await t.rejects(clientOf(t, endpoint(url), {}).call({ method: 'GET', path: '/' }), {
    code: 'BadStatus', status: 307, message: `tester: ${url}: redirects (307), which is not followed`
  })
  t.notOk(followed)
  const failing = await http(t, (_request, reply) => { reply.writeHead(503, { 'retry-after': '7' }).end('why') })
  await t.rejects(clientOf(t, endpoint(failing)).call({ method: 'GET' }), {
    code: 'BadStatus',
    status: 503,
    retryAfter: 7000,
    body: Buffer.from('why'),
    message: `tester: ${failing}: answered 503 Service Unavailable`
  })
  const long = await http(t, (_request, reply) => { reply.writeHead(404).end(Buffer.alloc(100_000)) })
  await t.rejects(clientOf(t, endpoint(long)).call({ method: 'GET' }), {
    code: 'BadStatus', status: 404, body: undefined
  })
})

t.test('calls are retried only where the caller allows it, with growing pauses, within the deadline', async t => {
  let asked = 0
  const url = await http(t, (_request, reply) => { reply.writeHead(++asked < 3 ? 503 : 200).end('done') })
  const pauses: number[] = []
  const codes: string[] = []
  const client = clientOf(t, endpoint(url), {
    pause: async wait => { pauses.push(wait) },
    observe: ({ caller, method, host, code }) => {
      codes.push(`${caller} ${method} ${host === new URL(url).host ? 'host' : host} ${code}`)
    }
  })
  await t.rejects(client.call({ method: 'POST', body: 'x' }), { code: 'BadStatus' })
  t.equal(asked, 1)
  asked = 0
  t.equal(
    (await client.call({ method: 'POST', body: 'x', retry: { attempts: 3, first: 100, factor: 2 } })).body.toString(),
    'done'
  )
  t.equal(pauses.length, 2)
  t.ok(
    (pauses[0] ?? 0) >= 100 && (pauses[0] ?? 0) <= 120 && (pauses[1] ?? 0) >= 200 && (pauses[1] ?? 0) <= 240,
    `waits of ${String(pauses)}`
  )
  t.same(codes, ['tester POST host 503', 'tester POST host 503', 'tester POST host 503', 'tester POST host 200'])
  asked = -10
  await t.rejects(
    client.call({ method: 'GET', retry: { attempts: 2 } }), { code: 'BadStatus', status: 503 },
    'no more often than that'
  )
  pauses.length = 0
  await t.rejects(
    client.call({ method: 'GET', deadline: 5000, retry: { attempts: 9, first: 6000 } }),
    { code: 'BadStatus', status: 503 }, 'a wait beyond the deadline is not begun'
  )
  t.same(pauses, [])
  const refused = await http(t, (_request, reply) => { asked++; reply.writeHead(403).end() })
  asked = 0
  await t.rejects(clientOf(t, endpoint(refused)).call({ method: 'GET', retry: { attempts: 5 } }), {
    code: 'BadStatus', status: 403
  })
  t.equal(asked, 1, 'a refusal is final')
})

t.test('an unusual status does not become a label of its own', async t => {
  const codes: string[] = []
  const client = clientOf(t, endpoint(await says(t, 'HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n')), {
    observe: ({ code }) => { codes.push(code) }
  })
  t.equal((await client.call({ method: 'GET' })).status, 299)
  const silent = clientOf(t, endpoint(await raw(t, () => {})), {
    deadline: 20, observe: ({ code }) => { codes.push(code) }
  })
  await t.rejects(silent.call({ method: 'GET' }))
  t.same(codes, ['other', 'Timeout'])
})

t.test('an aborted call ends with the reason of its signal', async t => {
  let asked = (): void => {}
  const arrived = new Promise<void>(resolve => { asked = resolve })
  let ended = (): void => {}
  const gone = new Promise<void>(resolve => { ended = resolve })
  const url = await raw(t, socket => { socket.on('data', () => { asked() }).on('close', () => { ended() }) })
  const controller = new AbortController()
  const call = clientOf(t, endpoint(url)).call({ method: 'GET', signal: controller.signal, retry: { attempts: 5 } })
  await arrived
  const reason = new Error('the client has gone')
  controller.abort(reason)
  await t.rejects(call, reason)
  await gone
  await t.rejects(
    clientOf(t, endpoint(url)).call({ method: 'GET', signal: controller.signal }), reason, 'and none is begun'
  )
})

t.test('TLS: nothing is sent unless authority and name match', async t => {
  let asked = 0
  const url = await https(t, (_request, reply) => { asked++; reply.end('ok') })
  const of = (more: Partial<Endpoint>, at = url): Promise<unknown> =>
    clientOf(t, endpoint(at, more, { token: 'secret' })).call({ method: 'GET' })
  await of({ authority: { data: ca.certificate } })
  t.equal(asked, 1)
  await t.rejects(of({}), { code: 'Unreachable', message: /unknown authority|not trusted|unable to/ })
  await t.rejects(of({ authority: { data: other.certificate } }), { code: 'Unreachable', message: /unknown authority/ })
  await t.rejects(
    of({ authority: { data: ca.certificate } }, url.replace('localhost', '127.0.0.1')),
    { code: 'Unreachable', message: /does not match|altnames/ }
  )
  await t.rejects(of({ authority: { data: ca.certificate }, serverName: 'elsewhere' }), { code: 'Unreachable' })
  t.equal(asked, 1, 'no untrusted server got a request')
  await of({ authority: { data: ca.certificate }, serverName: 'localhost' }, url.replace('localhost', '127.0.0.1'))
  await of({ insecure: true })
  t.equal(asked, 3)
})

t.test('a client certificate is presented, and a replaced one is used', async t => {
  const folder = t.testdir()
  const put = (commonName: string): void => {
    const made = ca.issue({ commonName, uses: ['client'] })
    writeFileSync(join(folder, 'c'), made.certificate)
    writeFileSync(join(folder, 'k'), made.key)
    writeFileSync(join(folder, 'token'), `${commonName}-token\n`)
  }
  const url = await https(t, (request, reply) => {
    const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate()
    reply.end(`${String(subject.CN)} ${String(request.headers.authorization)}`)
  }, { requestCert: true, ca: ca.certificate })
  let now = 0
  const client = clientOf(
    t,
    endpoint(
      url, { authority: { data: ca.certificate } },
      { certificate: { path: join(folder, 'c') }, key: { path: join(folder, 'k') }, tokenFile: join(folder, 'token') }
    ),
    { now: () => now }
  )
  const who = async (): Promise<string> => (await client.call({ method: 'GET' })).body.toString()
  await t.rejects(client.load(), {
    code: 'Config', message: /client-certificate .* cannot be read: there is no such file/
  })
  put('ann')
  t.equal(await who(), 'ann Bearer ann-token')
  put('bob')
  t.equal(await who(), 'ann Bearer ann-token', 'files are not read for each call')
  now += 11_000
  t.equal(await who(), 'bob Bearer bob-token')
  writeFileSync(join(folder, 'k'), 'half of a key')
  now += 11_000
  t.equal(await who(), 'bob Bearer bob-token', 'a pair that does not match changes nothing')
})

t.test('a client with a mismatched pair does not start', async t => {
  const data = (text: string): { data: string } => ({ data: text })
  await t.rejects(clientOf(t, endpoint('https://x', { authority: data('nonsense') })).load(), { code: 'Config' })
  await t.rejects(
    clientOf(t, endpoint('https://x', {}, { certificate: data(pair.certificate), key: data(other.key) })).load(),
    { code: 'Config', message: /do not fit/ }
  )
})

/** A proxy that serves every request and records it. */
async function proxyOf (t: Test): Promise<{
  url: URL
  asked: Array<{ target: string, authorization: string | undefined }>
}> {
  const asked: Array<{ target: string, authorization: string | undefined }> = []
  const server = createHttp()
  const sockets = new Set<Socket>()
  server.on('connect', (request, socket: Socket) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] })
    const [host, port] = (request.url ?? '').split(':')
    const beyond = connect(Number(port), host === 'localhost' ? '127.0.0.1' : host ?? '', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      beyond.pipe(socket).pipe(beyond)
    })
    for (const one of [socket, beyond]) sockets.add(one.on('error', () => {}))
  })
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  return { url: new URL(`http://ann:p%40ss@127.0.0.1:${await listen(t, server)}`), asked }
}

t.test('calls through a proxy use a tunnel, in which TLS is verified as usual', async t => {
  const proxy = await proxyOf(t)
  const secure = await https(t, (request, reply) => { reply.end(String(request.headers['proxy-authorization'])) })
  const client = clientOf(t, endpoint(secure, { proxy: proxy.url, authority: { data: ca.certificate } }))
  t.equal(
    (await client.call({ method: 'GET' })).body.toString(), 'undefined', 'headers for the proxy do not reach the peer'
  )
  await idle()
  await client.call({ method: 'GET' })
  t.same(
    proxy.asked,
    [{ target: new URL(secure).host, authorization: `Basic ${Buffer.from('ann:p@ss').toString('base64')}` }],
    'one tunnel for both'
  )
  await t.rejects(
    clientOf(t, endpoint(secure, { proxy: proxy.url, authority: { data: other.certificate } })).call({ method: 'GET' }),
    { code: 'Unreachable', message: /unknown authority/ }
  )
  const plain = await http(t, (_request, reply) => { reply.end('plain') })
  t.equal((await clientOf(t, endpoint(plain, { proxy: proxy.url })).call({ method: 'GET' })).body.toString(), 'plain')
})

t.test('a proxy that refuses, hangs, breaks or speaks first is named', async t => {
  const through = async (proxy: string): Promise<unknown> => {
    const to = endpoint('http://peer.example', { proxy: new URL(proxy) })
    return await clientOf(t, to, { connectTimeout: 100 }).call({ method: 'GET' })
  }
  const refuses = await says(t, 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
  await t.rejects(through(refuses), {
    code: 'Unreachable',
    message: `tester: http://peer.example: through the proxy ${new URL(refuses).host}: it answered CONNECT with 407`
  })
  await t.rejects(through(await raw(t, () => {})), { code: 'Timeout', message: /no tunnel in time/ })
  await t.rejects(
    through(await raw(t, socket => { socket.on('data', () => { socket.resetAndDestroy() }) })),
    { code: 'Unreachable', message: /through the proxy .*connection reset/ }
  )
  await t.rejects(through(await says(t, `HTTP/1.1 200 OK\r\n\r\n${OK}`)), {
    code: 'BadAnswer', message: /sent bytes before/
  })
  await t.rejects(through(await says(t, 'nonsense\r\n\r\n')), { code: 'BadAnswer' })
})

t.test('a closed client refuses calls and ends those in progress', async t => {
  let asked = (): void => {}
  const arrived = new Promise<void>(resolve => { asked = resolve })
  const client = clientOf(t, endpoint(await raw(t, socket => { socket.on('data', () => { asked() }) })))
  const call = client.call({ method: 'GET' }).then(
    () => 'answered', (error: unknown) => isClientError(error, 'Unreachable') ? 'ended' : String(error)
  )
  await arrived
  await client.close()
  t.equal(await call, 'ended')
  await t.rejects(client.call({ method: 'GET' }), { code: 'Unreachable', message: /was closed/ })
})

t.test('the HTTP library is not loaded before the first call', async t => {
  const url = await http(t, (_request, reply) => { reply.end('ok') })
  const script = `
    import { createRequire } from 'node:module'
    import { HttpClient } from './dist/clients/http-client.js'
    import './dist/app.js'
    const { cache } = createRequire(import.meta.url)
    const loaded = () => Object.keys(cache).some(path => path.includes('/undici/'))
    const endpoint = { server: new URL(${JSON.stringify(url)}), insecure: false, credentials: {} }
    const client = new HttpClient({ caller: 'tester', endpoint })
    await client.load()
    const before = loaded()
    await client.call({ method: 'GET' })
    console.log(before, loaded())
    await client.close()`
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--input-type=module', '-e', script],
    { cwd: fileURLToPath(new URL('../../../', import.meta.url)) }
  )
  t.equal(stdout.trim(), 'false true')
})
