/** What a handler may rely on is the same over HTTP/1.1 and HTTP/2, with and without a request body. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished, PassThrough, Readable } from 'node:stream'
import { CoreRequest } from '../../serving/core-request.js'
import { CoreResponse } from '../../serving/core-response.js'
import { createListener } from '../../serving/listener.js'
import { authority } from './authority.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

type Handler = (request: IncomingMessage, response: ServerResponse) => void
interface Answer { status: number, headers: IncomingHttpHeaders, body: Buffer }
interface Call { method?: string, path?: string, headers?: Record<string, string>, body?: string }
/** Calls over one connection. */
interface Client {
  call: (asked?: Call) => Promise<Answer>
  /** Reads the head and disconnects in the middle of the body. */
  leave: (asked?: Call) => Promise<void>
  /** Disconnects in the middle of a request body. */
  abandonUpload: () => Promise<void>
}

async function serve (t: Test, handler: Handler): Promise<number> {
  const listener = createListener(handler, {
    tls: { cert: pair.certificate, key: pair.key }, maxStreams: 0, requestTimeout: 60_000
  })
  await new Promise<void>(resolve => { listener.server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    listener.stop()
    listener.destroy()
  })
  return (listener.server.address() as AddressInfo).port
}

async function bytes (stream: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function http1 (t: Test, port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => { agent.destroy() })
  const ask = ({ method = 'GET', path = '/', headers = {}, body }: Call) => {
    const asked = httpsRequest({ port, host: '127.0.0.1', method, path, headers, agent, rejectUnauthorized: false })
    asked.end(body)
    return asked
  }
  return {
    call: async (asked = {}) => {
      const [response] = await once(ask(asked), 'response') as [IncomingMessage]
      return { status: response.statusCode ?? 0, headers: response.headers, body: await bytes(response) }
    },
    leave: async (asked = {}) => {
      const call = ask(asked)
      call.on('error', () => {})
      const [response] = await once(call, 'response') as [IncomingMessage]
      response.on('error', () => {})
      call.destroy()
    },
    abandonUpload: async () => {
      const call = httpsRequest({
        port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': 1000 }, agent, rejectUnauthorized: false
      })
      call.on('error', () => {})
      call.write('some')
      await once(call, 'socket')
      await new Promise(resolve => setTimeout(resolve, 50))
      call.destroy()
    }
  }
}

function session (t: Test, port: number): ClientHttp2Session {
  const made = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  made.on('error', () => {})
  t.teardown(() => { made.destroy() })
  return made
}

function http2 (t: Test, port: number): Client {
  const over = session(t, port)
  const ask = ({ method = 'GET', path = '/', headers = {}, body }: Call): ClientHttp2Stream => {
    const stream = over.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    return stream
  }
  return {
    call: async (asked = {}) => {
      const stream = ask(asked)
      const [headers] = await once(stream, 'response') as [IncomingHttpHeaders & { ':status': number }]
      return { status: headers[':status'], headers, body: await bytes(stream) }
    },
    leave: async (asked = {}) => {
      const stream = ask(asked)
      stream.on('error', () => {})
      await once(stream, 'response')
      stream.close(8)
    },
    abandonUpload: async () => {
      const stream = over.request({ ':method': 'POST' }, { endStream: false })
      stream.on('error', () => {})
      stream.write('some')
      await new Promise(resolve => setTimeout(resolve, 50))
      stream.close(8)
    }
  }
}

function overBoth (
  title: string, run: (t: Test, client: (t: Test, port: number) => Client, version: 1 | 2) => Promise<void>
): void {
  t.test(`${title}, over HTTP/1.1`, async t => { await run(t, http1, 1) })
  t.test(`${title}, over HTTP/2`, async t => { await run(t, http2, 2) })
}

/** Events of a response and its request, in order. */
function recorded (request: IncomingMessage, response: ServerResponse): string[] {
  const seen: string[] = []
  for (const event of ['finish', 'close', 'error']) response.on(event, () => seen.push(event))
  request.on('aborted', () => seen.push('aborted'))
  return seen
}

const turns = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve, 30))

overBoth('an answer has the code, the headers and the bytes it was given', async (t, client, version) => {
  const events: string[][] = []
  const port = await serve(t, (request, response) => {
    events.push(recorded(request, response))
    t.equal(request.method, 'GET')
    t.equal(request.url, '/path?query=1')
    t.equal(request.headers['x-asked'], 'this')
    t.equal(request.httpVersionMajor, version)
    t.equal(request.httpVersion, version === 1 ? '1.1' : '2.0')
    t.equal(request.complete || version === 1, true)
    t.equal(request.socket.remoteAddress, '127.0.0.1')
    t.equal(request instanceof CoreRequest, version === 2)
    response.setHeader('X-Set', ['a', 'b'])
    response.setHeader('x-removed', 'a')
    response.removeHeader('X-Removed')
    t.same(
      [response.hasHeader('x-set'), response.hasHeader('x-removed'), response.getHeader('X-SET'), response.headersSent],
      [true, false, ['a', 'b'], false]
    )
    response.writeHead(418, { 'x-over': 'c', 'X-Set': 'd', 'content-length': 4 })
    t.equal(response.headersSent, true)
    t.throws(() => response.setHeader('x-late', 'a'), { code: 'ERR_HTTP_HEADERS_SENT' })
    t.throws(() => response.writeHead(200), { code: 'ERR_HTTP_HEADERS_SENT' })
    t.equal(response.write('te'), true)
    t.equal(response.writableEnded, false)
    response.end(Buffer.from('xt'))
    t.equal(response.writableEnded, true)
  })
  const { status, headers, body } = await client(t, port).call({
    path: '/path?query=1', headers: { 'x-asked': 'this' }
  })
  t.equal(status, 418)
  t.match(headers, { 'x-over': 'c', 'x-set': 'd', date: String })
  t.notOk('x-removed' in headers)
  t.equal(body.toString(), 'text')
  await turns()
  t.same(events, [['finish', 'close']])
})

overBoth('an answer without a word to its head is 200', async (t, client) => {
  const port = await serve(t, (request, response) => {
    if (request.url === '/empty') response.end()
    else if (request.url === '/end') response.end('x')
    else {
      response.write('x', () => response.end())
    }
  })
  const calls = client(t, port)
  for (const [path, text] of [['/empty', ''], ['/end', 'x'], ['/write', 'x']] as const) {
    const { status, body } = await calls.call({ path })
    t.same([status, body.toString()], [200, text], path)
  }
})

overBoth('an answer that can have no body has none, whatever is written', async (t, client) => {
  const port = await serve(t, (request, response) => {
    response.writeHead(request.method === 'HEAD' ? 200 : Number(request.url?.slice(1)), { 'x-head': 'there' })
    response.write('never')
    response.end('seen')
  })
  const calls = client(t, port)
  for (const asked of [{ method: 'HEAD' }, { path: '/204' }, { path: '/304' }]) {
    const { status, headers, body } = await calls.call(asked)
    t.equal(status, asked.path === undefined ? 200 : Number(asked.path.slice(1)))
    t.equal(headers['x-head'], 'there')
    t.equal(body.length, 0)
  }
})

overBoth('what is of a connection stays with it, and what is no header is refused', async (t, client, version) => {
  const failures: unknown[] = []
  const port = await serve(t, (_request, response) => {
    for (const [name, value] of [
      ['x\r\ny', 'a'], ['', 'a'], ['x y', 'a'], ['x', 'a\r\nset-cookie: b'], ['x', 'a\u0000'], ['x', 'ł']
    ] as const) {
      try {
        response.setHeader(name, value)
        failures.push([name, value])
      } catch (error) {
        if (!(error instanceof TypeError)) failures.push(error)
      }
    }
    response.writeHead(200, { connection: 'keep-alive', 'keep-alive': 'timeout=1', 'x-kept': 'é' })
    response.end('x')
  })
  const { headers, body } = await client(t, port).call()
  t.same(failures, [])
  t.equal(body.toString(), 'x')
  t.equal('connection' in headers, version === 1)
  t.ok('x-kept' in headers)
})

overBoth('a large answer waits for its reader, and all of it arrives', async (t, client) => {
  const piece = Buffer.alloc(64 * 1024, 'p')
  let waits = 0
  const port = await serve(t, (_request, response) => {
    let left = 200
    const more = (): void => {
      while (left > 0) {
        left--
        if (!response.write(piece)) {
          waits++
          t.equal(response.writableNeedDrain, true)
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    more()
  })
  const { body } = await client(t, port).call()
  t.equal(body.length, 200 * piece.length)
  t.ok(waits > 0)
})

overBoth('a stream pipes into an answer, and those who wait for it hear of its end', async (t, client) => {
  const ends: unknown[] = []
  const port = await serve(t, (_request, response) => {
    finished(response, error => ends.push(error?.message))
    Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(10_000, 'r'))).pipe(response)
  })
  t.equal((await client(t, port).call()).body.length, 500_000)
  await turns()
  t.same(ends, [undefined])
})

overBoth('a client that goes in the middle closes its answer once', async (t, client) => {
  const seen: string[][] = []
  const ends: Array<Error | undefined> = []
  let closed: (() => void) | undefined
  let writes: boolean[] = []
  const port = await serve(t, (request, response) => {
    const events = recorded(request, response)
    seen.push(events)
    finished(response, error => ends.push(error ?? undefined))
    response.write('begun')
    response.once('close', () => {
      writes = [response.write('x'), response.destroyed]
      response.end('y')
      closed?.()
    })
  })
  const gone = new Promise<void>(resolve => { closed = resolve })
  await client(t, port).leave()
  await gone
  await turns()
  t.same(seen.map(events => events.filter(event => event === 'close' || event === 'finish')), [['close']])
  t.same(writes, [false, true])
  t.equal(ends.length, 1)
  t.match(ends[0], { code: 'ERR_STREAM_PREMATURE_CLOSE' })
})

overBoth('an answer that is given up is no whole answer to its client', async (t, client) => {
  const port = await serve(t, (request, response) => {
    if (request.url === '/next') {
      response.end('served')
      return
    }
    response.write('half')
    setTimeout(() => { response.destroy() }, 20)
  })
  const calls = client(t, port)
  await t.rejects(calls.call())
  t.equal((await calls.call({ path: '/next' })).body.toString(), 'served')
})

overBoth('a request is read to its end, with a body or without', async (t, client, version) => {
  const port = await serve(t, (request, response) => {
    if (request.method === 'POST') t.equal(response instanceof CoreResponse, false)
    let text = ''
    request.on('data', piece => { text += String(piece) })
    request.on('end', () => { response.end(`${request.method} ${text}`) })
  })
  const calls = client(t, port)
  t.equal((await calls.call()).body.toString(), 'GET ')
  t.equal((await calls.call({ method: 'POST', body: 'sent' })).body.toString(), 'POST sent')
  t.equal(
    (await calls.call({ method: 'POST', body: 'sent', headers: { expect: '100-continue' } })).body.toString(),
    'POST sent'
  )
  if (version === 2) {
    t.equal((await calls.call({ method: 'GET', body: 'sent' })).body.toString(), 'GET sent', 'a GET with a body')
  }
})

overBoth('an upload that is broken off ends its request', async (t, client) => {
  let closed: (() => void) | undefined
  const gone = new Promise<void>(resolve => { closed = resolve })
  const port = await serve(t, (request, response) => {
    request.on('error', () => {})
    request.resume()
    response.once('close', () => closed?.())
  })
  await client(t, port).abandonUpload()
  await gone
})

t.test('streams of a connection share its socket, even after it is destroyed', async t => {
  const requests: IncomingMessage[] = []
  const port = await serve(t, (request, response) => {
    requests.push(request)
    response.end()
  })
  const calls = http2(t, port)
  await calls.call()
  await calls.call()
  const [one, other] = requests
  t.equal(one?.socket, other?.socket)
  t.equal((one?.socket as { encrypted?: boolean } | undefined)?.encrypted, true)
  one?.socket.destroy()
  await turns()
  t.doesNotThrow(() => one?.socket.remoteAddress)
})

t.test('a connection that breaks closes all its answers once, with what was waiting to be sent', async t => {
  const closes = new Map<ServerResponse, number>()
  const port = await serve(t, (_request, response) => {
    closes.set(response, 0)
    response.on('close', () => closes.set(response, (closes.get(response) ?? 0) + 1))
    while (response.write(Buffer.alloc(16_384)));
  })
  const over = session(t, port)
  const streams = Array.from({ length: 50 }, () => over.request({ ':path': '/' }))
  for (const stream of streams) stream.on('error', () => {})
  await Promise.all(streams.map(async stream => { await once(stream, 'response') }))
  over.destroy()
  while ([...closes.values()].some(count => count === 0)) await turns()
  t.same([...closes.values()], streams.map(() => 1))
})

t.test('a request without a body ends when it is read', async t => {
  const seen: string[] = []
  const port = await serve(t, (request, response) => {
    const done = (what: string): void => {
      seen.push(`${request.url} ${what}`)
      response.end()
    }
    switch (request.url) {
      case '/events':
        request.on('data', () => seen.push('data'))
        request.on('end', () => done('end'))
        break
      case '/resume':
        request.pause()
        request.setEncoding('utf8')
        request.once('end', () => done(`ended ${request.readableEnded}`))
        request.resume()
        break
      case '/iterate':
        void (async () => {
          for await (const piece of request) seen.push(String(piece))
          done('iterated')
        })()
        break
      case '/pipe': {
        const target = new PassThrough()
        target.resume().on('end', () => done('piped'))
        request.pipe(target)
        break
      }
      case '/finished':
        finished(request, error => done(`finished ${String(error)}`))
        request.resume()
    }
  })
  const calls = http2(t, port)
  for (const path of ['/events', '/resume', '/iterate', '/pipe', '/finished']) await calls.call({ path })
  t.same(seen, [
    '/events end', '/resume ended true', '/iterate iterated', '/pipe piped', '/finished finished undefined'
  ])
})

overBoth(
  'a request that is destroyed has no answer, and its connection takes the next where it can',
  async (t, client, version) => {
    const port = await serve(t, (request, response) => {
      if (request.url !== '/gone') {
        response.end('served')
        return
      }
      response.write('begun')
      request.destroy()
      response.write('never')
      response.end()
    })
    const calls = client(t, port)
    await t.rejects(calls.call({ path: '/gone' }))
    if (version === 2) t.equal((await calls.call()).body.toString(), 'served')
  }
)

for (const [title, body, written] of [
  ['being written', undefined, false], ['written', undefined, true], ['to a request with a body', 'x', true]
] as const) {
  t.test(`an answer that is ${title} is over when its client gives it up without an error`, async t => {
    const answers: ServerResponse[] = []
    const port = await serve(t, (_, response) => {
      response.write('x'.repeat(100_000))
      if (written) response.end()
      answers.push(response)
    })
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false, settings: { initialWindowSize: 0 }
    })
    t.teardown(() => { session.destroy() })
    const call = session.request({ ':path': '/' }, { endStream: body === undefined })
    call.on('error', () => {})
    if (body !== undefined) call.end(body)
    await once(call, 'response')
    const [response] = answers as [ServerResponse]
    const closed = once(response, 'close')
    call.close(0)
    await closed
    t.notOk(response.writableFinished)
  })
}
