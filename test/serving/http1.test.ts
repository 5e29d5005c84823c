/** What HTTP/1 clients may write on a connection, in pipelines too, and what is refused. */
import t from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Test } from '../plugins/bare-server.js'
import { listening, raw, readAll, until } from './bare-listener.js'

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const LAST = 'Connection: close\r\n'

const codes = (answer: string): number[] =>
  Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, code]) => Number(code))

function status (answer: string): unknown {
  return JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4))
}

t.test('versions that are not served over this connection are refused, and it is closed', async t => {
  for (const goawayChance of [0, 1]) {
    const { port, seen } = await listening(t, { goawayChance })
    for (const [line, code] of [
      ['GET /', 400], ['GET / HTTP/0.9', 400], ['DELETE /', 400], ['GET / HTTP/2.0', 505], ['POST / HTTP/2.0', 505]
    ] as const) {
      const answer = await readAll(await raw(t, port, `${line}\r\n\r\n`))
      t.same(codes(answer), [code], line)
      t.match(answer, new RegExp(`^HTTP/1.1 ${code} [^]*\r\nConnection: close\r\n`), line)
      t.match(status(answer), { kind: 'Status', apiVersion: 'v1', status: 'Failure', code }, line)
    }
    t.same(seen, [])
    t.match(
      await readAll(await raw(t, port, 'GET / HTTP/1.0\r\n\r\n')), /^HTTP\/1.1 200 [^]*1.0 GET$/, 'HTTP/1.0 is served'
    )
  }
})

t.test('a tunnel is refused with a Status over both versions', async t => {
  const { port, seen } = await listening(t)
  for (const target of ['example.com:443', '/api', '*']) {
    const answer = await readAll(await raw(t, port, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n${get('/next')}`))
    t.match(answer, /^HTTP\/1.1 405 [^]*\r\nConnection: close\r\n/, target)
    t.same(codes(answer), [405])
    t.match(status(answer), { kind: 'Status', status: 'Failure', reason: 'MethodNotAllowed', code: 405 })
  }
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'example.com:443' })
  const [head] = await once(stream, 'response') as [Record<string, unknown>]
  t.equal(head[':status'], 405)
  t.match(JSON.parse(await readAll(stream)), { kind: 'Status', reason: 'MethodNotAllowed', code: 405 })
  t.same(seen, [])
})

t.test('an unknown expectation is refused with a Status', async t => {
  const { port, seen } = await listening(t)
  const answer = await readAll(await raw(
    t, port, `POST / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n${get('/next')}`
  ))
  t.match(answer, /^HTTP\/1.1 417 [^]*\r\nConnection: close\r\n/)
  t.match(status(answer), { kind: 'Status', status: 'Failure', code: 417 })
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  for (const method of ['GET', 'POST']) {
    const stream = session.request({ ':path': '/', ':method': method, expect: 'a-miracle' }, { endStream: true })
    const [head] = await once(stream, 'response') as [Record<string, unknown>]
    t.equal(head[':status'], 417)
    t.match(JSON.parse(await readAll(stream)), { kind: 'Status', code: 417 })
  }
  t.same(seen, [])
})

t.test('Expect: 100-continue is answered over both versions', async t => {
  const { port } = await listening(t)
  const socket = await raw(
    t, port, `POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n${LAST}\r\n`
  )
  const [interim] = await once(socket, 'data') as [Buffer]
  t.equal(String(interim), 'HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('body')
  t.match(await readAll(socket), /^HTTP\/1.1 200 [^]*\r\n\r\nbody$/)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  const stream = session.request({ ':path': '/', ':method': 'POST', expect: '100-continue' })
  await once(stream, 'continue')
  stream.end('body')
  t.equal(await readAll(stream), 'body')
})

/** A request behind a held one, so that its response is held too. */
async function behind (
  t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void, text: string
): Promise<{ socket: TLSSocket, go: () => void, seen: string[] }> {
  const held: ServerResponse[] = []
  const { port, seen } = await listening(t, {}, (request, response) => {
    if (request.url === '/held') held.push(response)
    else answer(request, response)
  })
  const socket = await raw(t, port, get('/held') + text)
  await until('both', () => seen.length === 2)
  return { socket, seen, go: () => { held[0]?.end(Buffer.from('first')) } }
}

const EXPECTING =
  'POST /second HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n'
const ANSWERS = (...codes: number[]): RegExp => new RegExp(`^${codes.map(code => `HTTP/1\\.1 ${code} `).join('[^]*')}`)

t.test('Expect: 100-continue behind another request is answered in its turn, and not within a response', async t => {
  const waiting = await behind(t, (request, response) => {
    request.resume()
    request.on('end', () => { response.end(Buffer.from('second')) })
  }, EXPECTING)
  let text = ''
  waiting.socket.on('data', (piece: Buffer) => { text += String(piece) })
  waiting.go()
  await until('the interim answer', () => text.includes('100 Continue'))
  t.match(text, /\r\n\r\nfirstHTTP\/1.1 100 Continue\r\n\r\n$/)
  waiting.socket.write('body')
  await once(waiting.socket, 'end')
  t.match(text, ANSWERS(200, 100, 200))
  t.match(text, /\r\n\r\nsecond$/)

  // The response is ready before its turn, or the body came without waiting for 100 Continue: there is nothing to wait
  // for.
  for (const [body, early] of [['', true], ['body', false]] as const) {
    const { socket, go } = await behind(t, (request, response) => {
      if (early) response.end(Buffer.from('second'))
      else request.resume().on('end', () => { response.end(Buffer.from('second')) })
    }, EXPECTING + body)
    go()
    const answers = await readAll(socket)
    t.same(codes(answers), [200, 200], `early: ${early}`)
    t.match(answers, /\r\n\r\nfirst[^]*\r\n\r\nsecond$/)
  }
})

/** Forwards the bytes of a client to that port; what arrives while it holds them is sent in one write afterwards. */
async function gathering (t: Test, port: number): Promise<{ port: number, hold: () => void, release: () => void }> {
  let kept: Buffer[] | undefined
  let server: Socket | undefined
  const proxy = createServer(client => {
    const onward = server = connect({ port, host: '127.0.0.1' })
    client.on('data', (bytes: Buffer) => { if (kept === undefined) onward.write(bytes); else kept.push(bytes) })
    onward.pipe(client)
    for (const socket of [client, onward]) {
      socket.on('error', () => {})
      t.teardown(() => socket.destroy())
    }
  })
  await new Promise<void>(resolve => { proxy.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => proxy.close())
  return {
    port: (proxy.address() as AddressInfo).port,
    hold: () => { kept = [] },
    release: () => {
      server?.write(Buffer.concat(kept ?? []))
      kept = undefined
    }
  }
}

t.test('requests that come while an answer waits to be read are served, however their bytes are cut', async t => {
  const large = Buffer.alloc(32 << 20, 'x')
  for (const pieces of [1, 7, 40]) {
    let backedUp = (): boolean => false
    const { port, seen } = await listening(t, {}, (request, response) => {
      if (request.url === '/large') backedUp = () => request.socket.writableNeedDrain
      let body = ''
      request.on('data', (piece: Buffer) => { body += String(piece) })
      request.on('end', () => {
        response.end(request.url === '/large' ? large : Buffer.from(`${request.url} ${body}`))
      })
    })
    const proxy = await gathering(t, port)
    const socket = await raw(t, proxy.port, '')
    socket.pause()
    const body = 'y'.repeat(30)
    const requests =
      `${Array.from({ length: 30 }, (_, index) => get(`/${index}`)).join('')}POST /body HTTP/1.1\r\nHost: ` +
      `x\r\nContent-Length: 30\r\n\r\n${body}${get('/last', LAST)}`
    socket.write(get('/large'))
    await until('its answer to be more than anybody takes', () => backedUp())
    proxy.hold()
    const size = Math.ceil(requests.length / pieces)
    // a TLS record each
    for (let at = 0; at < requests.length; at += size) {
      await new Promise(resolve => { socket.write(requests.slice(at, at + size), resolve) })
    }
    await new Promise(resolve => { setTimeout(resolve, 20) })
    proxy.release()
    const answer = await readAll(socket).catch(() => '')
    t.same(codes(answer), Array.from({ length: 33 }, () => 200), `${pieces} pieces`)
    t.same(seen, ['/large', ...Array.from({ length: 30 }, (_, index) => `/${index}`), '/body', '/last'])
    t.ok(answer.includes(`\r\n\r\n/body ${body}HTTP/1.1 200 `))
    t.ok(answer.endsWith('\r\n\r\n/last '))
  }
})

t.test('invalid input behind requests does not replace their responses', async t => {
  const { port } = await listening(t)
  const socket = await raw(t, port, get('/first'))
  await once(socket, 'data')
  socket.write(`${get('/second')}${get('/third')}nonsense\r\n\r\n`)
  const answer = await readAll(socket)
  t.same(codes(answer), [200, 200])
  t.match(answer, /\r\nConnection: close\r\n[^]*GET$/)
})
