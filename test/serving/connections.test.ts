/** Useless connections end and release what they hold. */
import t from 'tap'
import { once } from 'node:events'
import type { Http2ServerResponse } from 'node:http2'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { field, frame, getHttp2, listening, PREFACE, raw, readAll, until } from './bare-listener.js'
import type { Test } from '../plugins/bare-server.js'

async function tcp (t: Test, port: number, bytes?: Buffer): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  if (bytes !== undefined) socket.write(bytes)
  return socket
}

/** The first bytes of a TLS client. */
async function clientHello (): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => {})
  const [socket] = await once(server, 'connection') as [Socket]
  const [hello] = await once(socket, 'data') as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return hello
}

t.test('a connection that never begins TLS, or never ends its handshake, is closed at the time-out', async t => {
  const errors: Array<string | undefined> = []
  const { port, connections } = await listening(t, {
    handshake: 200, onConnectionError: error => { errors.push((error as NodeJS.ErrnoException).code) }
  })
  const hello = await clientHello()
  const silent = await Promise.all([
    undefined, hello.subarray(0, 1), hello.subarray(0, 100), hello
  ].map(async bytes => await tcp(t, port, bytes)))
  const dripping = await tcp(t, port)
  let at = 0
  const drip = setInterval(() => { if (at < hello.length - 1) dripping.write(hello.subarray(at, ++at)) }, 40)
  t.teardown(() => { clearInterval(drip) })
  await until('their end', async () => await connections() === 0)
  t.equal(silent.length, 4)
  t.same(errors, Array.from({ length: 5 }, () => 'ERR_TLS_HANDSHAKE_TIMEOUT'))
  t.equal(
    await readAll(await raw(t, port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'))
      .then(text => text.split('\r\n')[0]),
    'HTTP/1.1 200 OK'
  )
})

t.test('HTTP without TLS gets a 400 that says so', async t => {
  const { port, connections } = await listening(t)
  const socket = await tcp(t, port, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  t.equal(await readAll(socket), 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
  await until('its end', async () => await connections() === 0)
})

t.test('a connection that does not speak TLS is closed at once', async t => {
  const { port, connections } = await listening(t)
  await tcp(t, port, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  await tcp(t, port, Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0]))
  await until('their end', async () => await connections() === 0)
  t.equal(await connections(), 0)
})

t.test('an HTTP/1.1 connection without requests is closed, even if its client keeps its end open', async t => {
  const { port, connections } = await listening(t, { requestTimeout: 200 })
  const socket = await raw(t, port, '', { allowHalfOpen: true })
  t.match(await readAll(socket), /^HTTP\/1.1 408 /)
  await until('its end', async () => await connections() === 0)
  t.equal(await connections(), 0)
})

t.test('an HTTP/2 connection without requests is closed, even if its client keeps its end open', async t => {
  const { port, connections } = await listening(t, { idle: 150 })
  for (const bytes of ['', PREFACE]) {
    const socket = await raw(t, port, bytes, { ALPNProtocols: ['h2'], allowHalfOpen: true })
    socket.resume()
    await until('the end of one that listens', async () => await connections() === 0)
    const deaf = await raw(t, port, bytes, { ALPNProtocols: ['h2'], allowHalfOpen: true })
    t.equal(await connections(), 1)
    deaf.pause()
    await until('the end of one that does not', async () => await connections() === 0)
  }
})

t.test('connections over the limit are closed and reported, and later ones are served', async t => {
  let full = 0
  const { port, connections, listener } = await listening(t, { onFull: () => { full++ } })
  listener.bound(2)
  const kept = [await tcp(t, port), await tcp(t, port)]
  await until('both', async () => await connections() === 2)
  const third = await tcp(t, port)
  third.resume()
  await once(third, 'end')
  t.equal(full, 1)
  kept[0]?.destroy()
  await until('room', async () => await connections() === 1)
  t.match(
    await readAll(await raw(t, port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')), /^HTTP\/1.1 200 /
  )
})

t.test('destroy ends connections amid their handshake too', async t => {
  const { port, listener, connections } = await listening(t)
  const socket = await tcp(t, port)
  await until('it', async () => await connections() === 1)
  listener.destroy()
  socket.resume()
  await once(socket, 'end')
  await until('its end', async () => await connections() === 0)
  t.equal(await connections(), 0)
})

t.test('a request cancelled before it is dispatched is not served, because its end would go unnoticed', async t => {
  const late: string[] = []
  let open = 0
  const { port, seen } = await listening(t, {}, (request, response) => {
    const { stream } = response as unknown as Http2ServerResponse
    if (stream.destroyed) late.push(request.url ?? '')
    open++
    response.on('close', () => { open-- })
    response.end()
  })
  const fields = [
    field(':method', 'POST'), field(':scheme', 'https'), field(':authority', 'x'), field(':path', '/cancelled')
  ]
  const cancelled = [1, 3, 5].flatMap((stream, code) => [
    frame(1, 4, stream, Buffer.concat(fields)), frame(3, 0, stream, Buffer.of(0, 0, 0, [0, 2, 8][code] ?? 0))
  ])
  await raw(t, port, Buffer.concat([PREFACE, ...cancelled, getHttp2(7, '/last')]), { ALPNProtocols: ['h2'] })
  await until('what follows them', () => seen.includes('/last') && open === 0)
  t.same(late, [])
})
