/** What Node keeps to itself and this server relies on: each fails with a Node that does it another way. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { createServer, ServerResponse, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { takeStreams } from '../../../serving/wire/compatible-streams.js'
import { currentResponse } from '../../../serving/wire/pipelines.js'
import { endRawChunks, startRawChunks, unframedSocket } from '../../../serving/wire/raw-bodies.js'
import { stopAccepting } from '../../../serving/wire/stop-accepting.js'
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

/** Sends GETs over one connection and resolves with all that comes until the text does. */
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

t.test('a body of known length goes to the connection unframed', async t => {
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

t.test('a connection tells whether it is answering', async t => {
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
  const server = createSecureServer({ cert: certificate, key }, (_request: Http2ServerRequest, response: Http2ServerResponse) => { response.end('compatible') })
  const compatible = takeStreams(server, (stream, headers, flags, raw) => {
    if (headers[':path'] === '/core') {
      stream.respond()
      stream.end('core')
    } else {
      compatible(stream, headers, flags, raw)
    }
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const session = connectHttp2(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, { rejectUnauthorized: false })
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
