import t from 'tap'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { send, type OutgoingRequest } from '../../clients/outgoing.js'
import type { Test } from '../build.js'

/** A server that responds to anything with the text of the test. */
async function saying (t: Test, said: string | undefined): Promise<OutgoingRequest> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (said !== undefined) socket.once('data', () => { socket.end(said) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    method: 'GET',
    scheme: 'http',
    host: '127.0.0.1',
    port,
    path: '/',
    headers: ['Host', 'h'],
    verify: false,
    upgrade: false,
    connectTimeout: 60_000,
    call: 'part: peer'
  }
}

t.test('a response that is not HTTP is an error', async t => {
  for (const [said, code] of [
    ['nonsense\r\n\r\n', 'BadAnswer'], ['HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', 'BadAnswer'],
    ['', 'Unreachable'], ['HTTP/1.1 200 OK\r\n', 'Unreachable'],
    [
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 'BadAnswer'
    ], ['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', 'Unreachable'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 'BadAnswer']
  ] as const) {
    await t.rejects(
      send(await saying(t, said)), { name: 'ClientError', code, message: /^part: peer: / }, said.slice(0, 40)
    )
  }
})

t.test('a peer that does not answer ends in a timeout', async t => {
  const silent = await saying(t, undefined)
  await t.rejects(send({ ...silent, answerTimeout: 1 }), { code: 'Timeout', message: 'part: peer: no answer in time' })
  // It accepts connections but never answers the TLS handshake.
  await t.rejects(send({ ...silent, scheme: 'https', connectTimeout: 1 }), {
    code: 'Timeout', message: 'part: peer: no connection in time'
  })
  const ended = send(silent, request => { request.destroy(new Error('enough')) })
  await t.rejects(ended, { name: 'ClientError', message: /enough/ })
})

t.test('a response without the requested upgrade is returned as a plain response', async t => {
  const { answer, upgraded } = await send({
    ...await saying(t, 'HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno'),
    upgrade: true,
    headers: ['Host', 'h', 'Connection', 'Upgrade', 'Upgrade', 'x']
  })
  t.equal(answer.statusCode, 400)
  t.equal(upgraded, undefined)
  answer.resume()
})
