/** Internals of Node that this server relies on: each test fails with a Node that changes one. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import {
  connect as connectHttp2, constants, createSecureServer, createServer as createHttp2Server, type Http2ServerRequest,
  type Http2ServerResponse
} from 'node:http2'
import { createServer, ServerResponse, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { destroyWhenCancelled, resetWhenDestroyed } from '../../../serving/wire/compatible-responses.js'
import { takeStreams } from '../../../serving/wire/compatible-streams.js'
import { continueInTurn, currentResponse, readAsStream } from '../../../serving/wire/pipelines.js'
import { closeQueued, destroyWithConnection } from '../../../serving/wire/queued-responses.js'
import { endRawChunks, startRawChunks, unframedSocket } from '../../../serving/wire/raw-bodies.js'
import { serverOf } from '../../../serving/wire/server-of.js'
import { startTimeouts } from '../../../serving/wire/start-timeouts.js'
import { stopAccepting } from '../../../serving/wire/stop-accepting.js'
import { connectionOf, serveUpgrade } from '../../../serving/wire/upgrades.js'
import { authority } from '../authority.js'

async function serve (t: Test, handler: RequestListener): Promise<{ server: Server, port: number }> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** Sends GETs over one connection; resolves to everything received up to the text. */
async function ask (socket: Socket, paths: readonly string[], until: string): Promise<string> {
  socket.write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`).join(''))
  let text = ''
  while (!text.includes(until)) text += String((await once(socket, 'data'))[0])
  return text
}

async function open (t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  t.teardown(() => { socket.destroy() })
  return socket
}

t.test('chunks that are taken leave as they are, and the connection serves on', async t => {
  const { port } = await serve(t, (request, response) => {
    response.flushHeaders()
    const socket = startRawChunks(response)
    t.ok(socket)
    t.notOk(startRawChunks(response), 'once')
    socket?.write(`2\r\n${request.url}\r\n`)
    endRawChunks(response)
    response.end()
  })
  const socket = await open(t, port)
  for (const path of ['/a', '/b']) t.match(await ask(socket, [path], '0\r\n\r\n'), `\r\n\r\n2\r\n${path}\r\n0\r\n\r\n`)
})

t.test('a body of known length is written to the connection unframed', async t => {
  const { port } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 4 }).flushHeaders()
    t.notOk(startRawChunks(response))
    unframedSocket(response)?.write('body')
    response.end()
  })
  t.match(await ask(await open(t, port), ['/'], 'body'), /\r\n\r\nbody$/)
})

t.test('a response that waits behind another one, or has no connection, keeps its bytes', async t => {
  const responses: ServerResponse[] = []
  const { port } = await serve(t, (_request, response) => {
    response.flushHeaders()
    if (responses.push(response) < 2) return
    t.notOk(startRawChunks(response))
    t.notOk(unframedSocket(response))
    for (const one of responses) one.end('all')
  })
  t.equal((await ask(await open(t, port), ['/', '/'], 'all\r\n0\r\n\r\nHTTP/1.1 200')).split('HTTP/1.1').length, 3)
  t.notOk(startRawChunks(new ServerResponse({ method: 'GET' } as IncomingMessage)))
})

t.test('the current response of a connection is known', async t => {
  const { port } = await serve(t, (request, response) => {
    const { socket } = request
    t.equal(currentResponse(socket), response)
    response.on('close', () => { t.equal(currentResponse(socket), undefined) })
    response.end('done')
  })
  await ask(await open(t, port), ['/'], 'done')
})

t.test('a server that stops accepting leaves idle connections open', async t => {
  const { server, port } = await serve(t, (_request, response) => { response.end('done') })
  const socket = await open(t, port)
  await ask(socket, ['/'], 'done')
  stopAccepting(server)
  stopAccepting(server)
  t.equal(server.listening, false)
  t.match(await ask(socket, ['/'], 'done'), 'HTTP/1.1 200')
  const [error] = await once(connect(port, '127.0.0.1'), 'error') as [NodeJS.ErrnoException]
  t.equal(error.code, 'ECONNREFUSED')
})

t.test('streams of HTTP/2 are taken from Node, and handed back to it one by one', async t => {
  const { certificate, key } = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
  const server = createSecureServer(
    { cert: certificate, key },
    (_request: Http2ServerRequest, response: Http2ServerResponse) => { response.end('compatible') }
  )
  const compatible = takeStreams(server, (stream, headers, flags, raw) => {
    if (headers[':path'] === '/core') {
      stream.respond()
      stream.end('core')
    } else {
      compatible(stream, headers, flags, raw)
    }
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const session = connectHttp2(
    `https://127.0.0.1:${(server.address() as AddressInfo).port}`, { rejectUnauthorized: false }
  )
  t.teardown(() => {
    session.destroy()
    server.close()
  })
  for (const path of ['core', 'compatible']) {
    const stream = session.request({ ':path': `/${path}` }).setEncoding('utf8')
    t.equal((await stream.toArray()).join(''), path)
  }
  const bare = createSecureServer({ cert: certificate, key })
  t.throws(() => takeStreams(bare, () => {}), /takes its handler another way/)
})

t.test('a TLS connection that is read as a stream takes all requests that come at once', async t => {
  const { certificate, key } = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
  const server = createHttpsServer(
    { cert: certificate, key }, (_request, response) => { response.end(Buffer.alloc(1000, 'x')) }
  )
  server.on('secureConnection', readAsStream)
  server.on('clientError', (error, socket) => {
    t.error(error, 'no bad HTTP')
    socket.destroy()
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const socket = connectTls({
    port: (server.address() as AddressInfo).port, host: '127.0.0.1', rejectUnauthorized: false
  })
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  await once(socket, 'secureConnect')
  const most = 300 // several records, and more than Node reads before it pauses
  socket.write(`GET /${'a'.repeat(100)} HTTP/1.1\r\nHost: test\r\n\r\n`.repeat(most))
  let text = ''
  const count = (): number => text.split('HTTP/1.1 200').length - 1
  socket.setEncoding('latin1').on('data', (piece: string) => { text += piece })
  while (count() < most && !socket.destroyed) await Promise.race([once(socket, 'data'), once(socket, 'close')])
  t.equal(count(), most)
})

t.test('100 Continue of a queued response comes before its head, or not at all', async t => {
  const { server, port } = await serve(t, (_request, response) => {
    server.once('checkContinue', () => { setImmediate(() => { response.end('first') }) })
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueInTurn(request, response, 10)
    const end = (): void => { response.end(Buffer.from('second')) }
    if (request.url === '/early') end()
    else request.resume().once('end', end)
  })
  for (const [path, whole] of [
    ['/late', /first[^]*100 Continue\r\n\r\nHTTP\/1.1 200[^]*second$/],
    ['/early', /first(?![^]*100 Continue)[^]*second$/]
  ] as const) {
    const socket = await open(t, port)
    socket.write(
      `GET /first HTTP/1.1\r\nHost: test\r\n\r\nPOST ${path} HTTP/1.1\r\nHost: test\r\nExpect: ` +
      '100-continue\r\nContent-Length: 1\r\n\r\n'
    )
    let text = ''
    while (!/100 Continue|second/.test(text)) text += String((await once(socket, 'data'))[0])
    socket.write('x')
    while (!text.includes('second')) text += String((await once(socket, 'data'))[0])
    t.match(text, whole, path)
  }
})

t.test('a queued response closes with its connection, once, and takes it along when it is destroyed', async t => {
  for (const end of ['connection', 'response']) {
    const responses: ServerResponse[] = []
    const { server, port } = await serve(t, (_request, response) => {
      destroyWithConnection(response)
      if (responses.push(response) === 2) server.emit('both')
    })
    const socket = await open(t, port)
    socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(2))
    await once(server, 'both')
    const queued = responses[1] as ServerResponse
    let closed = 0
    queued.on('close', () => { closed++ })
    const { socket: connection } = queued.req
    const ended = once(connection, 'close')
    if (end === 'connection') socket.destroy()
    else queued.destroy()
    await ended
    closeQueued(queued)
    closeQueued(queued)
    await new Promise(resolve => setImmediate(resolve))
    t.equal(closed, 1, end)
    t.equal(queued.destroyed, true)
  }
})

t.test(
  'an incomplete HTTP/2 response that is destroyed ends with an error code, and one that is cancelled closes',
  async t => {
    const closed: string[] = []
    const server = createHttp2Server((request, response) => {
      destroyWhenCancelled(response.stream)
      resetWhenDestroyed(response)
      response.stream.on('close', () => { if (closed.push(request.url) === 2) server.emit('both') })
      response.write(Buffer.alloc(100_000))
      if (request.url === '/destroyed') response.destroy()
    })
    await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      settings: { initialWindowSize: 0 }
    })
    t.teardown(() => {
      session.destroy()
      server.close()
    })
    const both = once(server, 'both')
    const destroyed = session.request({ ':path': '/destroyed' })
    const [error] = await once(destroyed, 'error') as [Error]
    t.match(error.message, 'INTERNAL_ERROR')
    const cancelled = session.request({ ':path': '/cancelled' })
    await once(cancelled, 'response')
    cancelled.close(constants.NGHTTP2_NO_ERROR)
    await both
    t.strictSame(closed, ['/destroyed', '/cancelled'])
  }
)

t.test('a connection leads to its server', async t => {
  const { server, port } = await serve(t, (request, response) => {
    t.equal(serverOf(request.socket), server)
    response.end('done')
  })
  await ask(await open(t, port), ['/'], 'done')
})

t.test('a server that does not listen limits the time of requests', async t => {
  const server = createServer({ headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 })
  startTimeouts(server)
  const acceptor = createTcpServer(socket => { server.emit('connection', socket) }).listen(0, '127.0.0.1')
  await once(acceptor, 'listening')
  t.teardown(() => {
    acceptor.close()
    server.close()
  })
  const socket = await open(t, (acceptor.address() as AddressInfo).port)
  socket.write('GET / HTTP/1.1\r\n')
  t.match(String((await once(socket, 'data'))[0]), 'HTTP/1.1 408')
})

t.test('an upgrade has a response, or its handler the connection', async t => {
  const { server, port } = await serve(t, () => { t.fail('no request') })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    serveUpgrade(request, { socket, head }, false, (request, response) => {
      if (request.url === '/refused') {
        response.end('refused')
        return
      }
      const connection = connectionOf(request)
      t.equal(connection, socket)
      connection?.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      connection?.pipe(connection)
    })
  })
  const upgrade = async (path: string, rest: string): Promise<Socket> => {
    const socket = await open(t, port)
    socket.setEncoding('latin1').write(
      `GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: echo\r\n${rest}`
    )
    return socket
  }
  t.match((await (await upgrade('/refused', '\r\n')).toArray()).join(''), /^HTTP\/1.1 200[^]*refused$/)
  t.match((await (await upgrade('/', 'Content-Length: 1\r\n\r\nx')).toArray()).join(''), /^HTTP\/1.1 400/)
  const taken = await upgrade('/', '\r\nhead')
  let text = ''
  while (!text.includes('head')) text += String((await once(taken, 'data'))[0])
  t.match(text, /^HTTP\/1.1 101/)
})
