import t from 'tap'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from '../plugins/bare-server.js'
import { helloSize } from '../../serving/hello.js'
import { listening, raw, until } from './bare-listener.js'

/** A client's first message. */
async function hello (): Promise<Buffer> {
  return await new Promise<Buffer>(resolve => {
    const socket = connect({
      socket: new Duplex({ read () {}, write: (chunk: Buffer, _encoding, done) => { resolve(chunk); done() } })
    })
    socket.on('error', () => {})
  })
}

async function tcp (test: Test, port: number): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1')
  test.teardown(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

t.test('the size of a first message is known from its first bytes, however they are split into records', async t => {
  const bytes = await hello()
  t.equal(helloSize(bytes), bytes.length)
  t.equal(helloSize(Buffer.concat([bytes, Buffer.from([23, 3, 3, 0, 1])])), bytes.length)
  for (let length = 1; length < bytes.length; length++) {
    if (helloSize(bytes.subarray(0, length)) <= length) t.fail(`${length} bytes`)
  }
  const message = bytes.subarray(5)
  const record = (part: Buffer): Buffer =>
    Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
  for (const at of [0, 1, 3, 4, 5, 100]) {
    const split = Buffer.concat([record(message.subarray(0, at)), record(message.subarray(at))])
    t.equal(helloSize(split), split.length)
    for (let length = 1; length < split.length; length++) {
      if (helloSize(split.subarray(0, length)) <= length) t.fail(`${length} bytes`)
    }
  }
  t.equal(helloSize(Buffer.from('GET / HTTP/1.1\r\n')), 0)
})

t.test('a first message may come byte by byte, or be as large as some are', async t => {
  const { port } = await listening(t)
  const socket = await tcp(t, port)
  const bytewise = new Duplex({
    read () {},
    write: (chunk: Buffer, _encoding, done) => {
      void (async () => {
        for (const byte of chunk) {
          socket.write(Buffer.of(byte))
          await sleep(0)
        }
      })().then(() => { done() }, done)
    }
  })
  socket.on('data', chunk => { bytewise.push(chunk) })
  const secure: TLSSocket = connect({
    socket: bytewise,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1', ...Array.from({ length: 3 }, (_, index) => `${index}`.padStart(200, 'x'))]
  })
  t.teardown(() => secure.destroy())
  await once(secure, 'secureConnect')
  secure.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(String((await once(secure, 'data'))[0]), /^HTTP\/1\.1 200/)
  const large = await raw(t, port, '', {
    ALPNProtocols: ['http/1.1', ...Array.from({ length: 50 }, (_, index) => `${index}`.padStart(200, 'x'))]
  })
  t.equal(large.alpnProtocol, 'http/1.1')
  const endless = (await tcp(t, port)).resume()
  endless.write(Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 1, 0, 0]), Buffer.alloc(100)]))
  await once(endless, 'close')
  t.pass('a message of 65,536 bytes is not awaited')
})

t.test(
  'few handshakes are under way at a time: those that go on none the less, others when they make place', async t => {
    const { port, connections } = await listening(t)
    const bytes = await hello()
    const stalled = await Promise.all(Array.from({ length: 450 }, () => tcp(t, port)))
    let closed = 0
    for (const socket of stalled) {
      socket.once('close', () => { closed++ }).resume()
      socket.write(bytes)
    }
    const socket = await raw(t, port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200/)
    await until('place for all', async () => closed >= 250 && await connections() === 451 - closed)
    t.ok(closed <= 251, `${closed} made place`)
  }
)
