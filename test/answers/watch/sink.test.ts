/** How the bytes of a watch are sent over each protocol, and what happens to a client that does not read them. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Stream } from 'node:http2'
import { request as httpsRequest, Agent } from 'node:https'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createListener } from '../../../serving/listener.js'
import { chunk, chunkContent } from '../../../answers/watch/framing.js'
import { Sink } from '../../../answers/watch/sink.js'
import { authority } from '../../serving/authority.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
const MB = 1024 * 1024

interface Opened {
  readonly sink: Sink
  readonly closed: Promise<void>
  readonly write: (text: string) => boolean
  drains: number
}

/** A server on which each request opens a sink; those of path /short are answered at once. */
async function serve (
  t: Test, stalledMs = 60_000, perSecond = 0
): Promise<{ port: number, next: () => Promise<Opened>, errors: Error[] }> {
  const errors: Error[] = []
  const opened: Opened[] = []
  let wake: (() => void) | undefined
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    if (request.url === '/short') {
      response.end('short')
      return
    }
    let close: () => void = () => {}
    const closed = new Promise<void>(resolve => { close = resolve })
    const sink = new Sink(
      response, { drained: () => { one.drains++ }, closed: () => { close() } }, stalledMs, perSecond
    )
    const one: Opened = {
      sink, closed, drains: 0, write: text => sink.write(sink.chunked ? chunk(Buffer.from(text)) : Buffer.from(text))
    }
    opened.push(one)
    wake?.()
  }
  const listener = createListener(handler, {
    tls: { cert: pair.certificate, key: pair.key }, maxStreams: 0, requestTimeout: 60_000
  })
  listener.server.on('clientError', (error: Error, socket: Socket) => {
    errors.push(error)
    socket.destroy()
  })
  await new Promise<void>(resolve => { listener.server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    listener.stop()
    listener.destroy()
  })
  return {
    errors,
    port: (listener.server.address() as AddressInfo).port,
    async next () {
      while (opened.length === 0) await new Promise<void>(resolve => { wake = resolve })
      return opened.shift() as Opened // there is one
    }
  }
}

interface Asked { readonly stream: Readable, readonly leave: () => void }

async function overHttp1 (t: Test, port: number): Promise<Asked> {
  const asked = httpsRequest({ port, host: '127.0.0.1', agent: false, rejectUnauthorized: false })
  asked.on('error', () => {})
  t.teardown(() => { asked.destroy() })
  asked.end()
  const [response] = await once(asked, 'response') as [IncomingMessage]
  response.on('error', () => {})
  return { stream: response, leave: () => { asked.destroy() } }
}

async function overHttp2 (t: Test, port: number): Promise<Asked> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  const stream: ClientHttp2Stream = session.request({ ':path': '/' })
  stream.on('error', () => {})
  await once(stream, 'response')
  return { stream, leave: () => { session.destroy() } }
}

async function text (stream: Readable): Promise<string> {
  let all = ''
  for await (const piece of stream) all += String(piece)
  return all
}

const numbered = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, at) => `${at} ${'x'.repeat(length)}\n`)

for (const [name, ask] of [['HTTP/1.1', overHttp1], ['HTTP/2', overHttp2]] as const) {
  t.test(`${name}: writes arrive complete and in order, and so does the end`, async t => {
    const server = await serve(t)
    const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
    const lines = numbered(200, 3000)
    for (const line of lines) opened.write(line)
    opened.sink.end()
    t.equal(await text(stream), lines.join(''))
    await opened.closed
  })

  t.test(`${name}: a write above the rate sends at most a second's worth at once, and the end follows it`, async t => {
    const perSecond = 40_000
    const server = await serve(t, 60_000, perSecond)
    const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
    const since = performance.now()
    const arrived: Array<readonly [bytes: number, at: number]> = []
    stream.on('data', (piece: Buffer) => { arrived.push([piece.length, performance.now() - since]) })
    const all = 'x'.repeat(2 * perSecond)
    t.equal(opened.write(all), false)
    t.equal(opened.write('y'), false, 'further writes are queued behind it')
    opened.sink.end()
    t.equal(await text(stream), `${all}y`)
    await opened.closed
    let bytes = 0
    for (const [more, at] of arrived) {
      t.ok((bytes += more) <= perSecond * (1 + at / 1000) + 100, `${bytes} bytes after ${at} ms`)
    }
    t.equal(opened.drains, 0, 'there is nothing to go on with')
  })

  t.test(`${name}: a client that does not read pauses a paced watch, which continues when it reads`, async t => {
    const server = await serve(t, 60_000, 16 * MB)
    const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
    t.equal(opened.write('x'.repeat(18 * MB)), false)
    stream.resume()
    while (opened.drains === 0) await sleep(5)
    t.equal(opened.write('more\n'), true)
    opened.sink.end()
    await opened.closed
  })

  t.test(`${name}: a disconnected client is noticed`, async t => {
    const server = await serve(t)
    const [asked, opened] = await Promise.all([ask(t, server.port), server.next()])
    opened.write('a line\n')
    asked.leave()
    await opened.closed
    t.pass('it was closed')
  })

  t.test(`${name}: a client that reads nothing is ended after a while, in the middle and at the end`, async t => {
    const server = await serve(t, 300)
    for (const end of [false, true]) {
      const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
      stream.pause()
      const piece = 'x'.repeat(MB)
      for (let at = 0; at < 20; at++) opened.write(piece)
      t.ok(opened.sink.blocked)
      if (end) opened.sink.end()
      await opened.closed
      t.equal(opened.drains, 0)
    }
  })

  t.test(`${name}: a slow client that reads occasionally is not ended`, async t => {
    const stalledMs = 1000
    const server = await serve(t, stalledMs)
    const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
    let over = false
    void opened.closed.then(() => { over = true })
    let taken = 0
    stream.on('data', (piece: Buffer) => {
      taken += piece.length
      // Reads far more than the connection buffers, because the server sees nothing else, then pauses.
      if (taken % (40 * MB) > piece.length) return
      stream.pause()
      setTimeout(() => { stream.resume() }, stalledMs / 4)
    })
    const piece = 'x'.repeat(8 * MB)
    for (const until = performance.now() + 3 * stalledMs; performance.now() < until; await sleep(5)) {
      if (!opened.sink.blocked) opened.write(piece)
    }
    t.notOk(over, `it took ${(taken / MB).toFixed(1)} MB`)
    t.ok(opened.drains > 1)
  })

  t.test(`${name}: a watch that was behind once and has been quiet since is not ended`, async t => {
    const stalledMs = 100
    const server = await serve(t, stalledMs)
    const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
    const state = { over: false }
    void opened.closed.then(() => { state.over = true })
    stream.resume()
    opened.write('x'.repeat(4 * MB))
    while (opened.drains === 0) await sleep(5)
    await sleep(5 * stalledMs)
    t.notOk(state.over)
    t.equal(opened.write('more\n'), true)
  })

  t.test(`${name}: the watch is notified when its client has caught up`, async t => {
    const server = await serve(t)
    const [{ stream }, opened] = await Promise.all([ask(t, server.port), server.next()])
    t.equal(opened.write('x'.repeat(4 * MB)), false)
    t.equal(opened.drains, 0)
    stream.resume()
    while (opened.drains === 0) await sleep(5)
    t.equal(opened.sink.blocked, false)
    t.equal(opened.write('more\n'), true)
    t.equal(opened.drains, 1)
  })
}

t.test('over HTTP/1.1 the connection can be used again after the end', async t => {
  const server = await serve(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => { agent.destroy() })
  const ask = async (path: string): Promise<IncomingMessage> => {
    const asked = httpsRequest({ port: server.port, host: '127.0.0.1', path, agent, rejectUnauthorized: false })
    asked.end()
    const [response] = await once(asked, 'response') as [IncomingMessage]
    return response
  }
  const [response, opened] = await Promise.all([ask('/'), server.next()])
  const { socket } = response
  opened.write('x'.repeat(MB))
  opened.sink.end()
  t.equal((await text(response)).length, MB)
  const short = await ask('/short')
  t.equal(short.socket, socket)
  t.equal(await text(short), 'short')
})

t.test('a client of HTTP/1.1 that ends its side is no error', async t => {
  const server = await serve(t)
  const socket = connectTls({
    port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1']
  })
  t.teardown(() => { socket.destroy() })
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const opened = await server.next()
  const state = { over: false }
  void opened.closed.then(() => { state.over = true })
  socket.resume()
  socket.end()
  while (!state.over) {
    opened.write('a line\n')
    await new Promise(resolve => { setImmediate(resolve) })
  }
  opened.write('a line\n')
  opened.sink.end()
  await sleep(10)
  t.same(server.errors, [])
})

t.test('a chunk has its content, whatever that is', t => {
  for (const length of [1, 10, 15, 16, 4096, 1_000_000]) {
    for (const byte of [0x0a, 0x0d, 0x30, 0]) {
      t.ok(chunkContent(chunk(Buffer.alloc(length, byte))).equals(Buffer.alloc(length, byte)), `${length} of ${byte}`)
    }
  }
  t.equal(chunk(Buffer.from('0123456789abcdef')).toString(), '10\r\n0123456789abcdef\r\n')
  t.end()
})

t.test('an answer that waits behind another one on its connection comes after it', async t => {
  const server = await serve(t)
  const socket = connectTls({
    port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1']
  })
  t.teardown(() => { socket.destroy() })
  await once(socket, 'secureConnect')
  socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const first = await server.next()
  const second = await server.next()
  second.write('of the second\n')
  first.write('of the first\n')
  second.sink.end()
  first.write('and more\n')
  first.sink.end()
  const all = await text(socket)
  t.match(
    all, /^HTTP\/1\.1 200 OK[^]*of the first\n[^]*and more\n[^]*HTTP\/1\.1 200 OK[^]*of the second\n[^]*0\r\n\r\n$/
  )
})

t.test('a client of HTTP/1.0 gets no chunks', async t => {
  const server = createServer((_request, response) => {
    response.writeHead(200)
    const sink = new Sink(response, { drained: () => {}, closed: () => {} })
    t.equal(sink.chunked, false)
    sink.write(Buffer.from('a line\n'))
    sink.end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write('GET / HTTP/1.0\r\n\r\n')
  t.match(await text(socket), /\r\n\r\na line\n$/)
})
