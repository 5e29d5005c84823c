/** How HTTP/2 clients are asked to leave a connection: by `--goaway-chance`, and at shutdown. */
import t from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Test } from '../plugins/bare-server.js'
import { frame, getHttp2, listening, PREFACE, raw, readAll, until } from './bare-listener.js'

/** Frame types. */
const [DATA, RESET, PING, GOAWAY] = [0, 3, 6, 7]
const ACK = 1
/** A flag of DATA frames. */
const END_STREAM = 1

interface Frame { readonly type: number, readonly stream: number, readonly ends: boolean, readonly last: number }

function open (test: Test, port: number): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  test.teardown(() => session.destroy())
  return session
}

/** A client that sends arbitrary frames, answers pings or not, and records the frames it gets in order. */
async function byFrames (test: Test, port: number, alive = true): Promise<{ socket: TLSSocket, frames: Frame[] }> {
  const socket = await raw(test, port, PREFACE, { ALPNProtocols: ['h2'] })
  const frames: Frame[] = []
  let unread = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes])
    for (; unread.length >= 9 &&
      unread.length >= 9 + unread.readUIntBE(0, 3); unread = unread.subarray(9 + unread.readUIntBE(0, 3))) {
      const type = unread[3] ?? 0
      if (alive && type === PING && unread[4] !== ACK) socket.write(frame(PING, ACK, 0, unread.subarray(9, 17)))
      frames.push({
        type,
        stream: unread.readUInt32BE(5),
        ends: type === DATA && ((unread[4] ?? 0) & END_STREAM) !== 0,
        last: type === GOAWAY ? unread.readUInt32BE(9) : 0
      })
    }
  })
  return { socket, frames }
}

const goaways = (frames: readonly Frame[]): number[] =>
  frames.filter(({ type }) => type === GOAWAY).map(({ last }) => last)
const answered = (frames: readonly Frame[]): number[] => frames.filter(({ ends }) => ends).map(({ stream }) => stream)

t.test('a client is occasionally asked to reconnect, and its open streams continue', async t => {
  const { port, held } = await listening(t, { goawayChance: 1 })
  const session = open(t, port)
  const away = once(session, 'goaway')
  const answer = readAll(session.request({ ':path': '/held' }))
  t.equal((await away)[0], 0, 'without an error')
  await until('the request', () => held.length === 1)
  held[0]?.end('done')
  t.equal(await answer, 'done')
  const never = await listening(t)
  const kept = open(t, never.port)
  kept.on('goaway', () => t.fail('got GOAWAY'))
  for (let index = 0; index < 20; index++) t.equal(await readAll(kept.request({ ':path': '/' })), '2.0 GET')
})

t.test('GOAWAY is sent before the responses', async t => {
  const { port } = await listening(t, { goawayChance: 1 })
  const { socket, frames } = await byFrames(t, port)
  socket.write(Buffer.concat([getHttp2(1, '/'), getHttp2(3, '/')]))
  await until('two answers', () => answered(frames).length === 2)
  t.same(goaways(frames), [3], 'requests that have arrived are served')
  t.ok(frames.findIndex(({ type }) => type === GOAWAY) < frames.findIndex(({ type }) => type === DATA))
})

t.test('clients that wait for their answers lose no request, however many there are on a connection', async t => {
  const { port } = await listening(t, { goawayChance: 0.2 })
  for (const workers of [1, 8]) {
    let session = open(t, port)
    let connections = 1
    const work = async (): Promise<void> => {
      for (let index = 0; index < 50; index++) {
        if (session.closed || session.destroyed) {
          session = open(t, port)
          connections++
        }
        const [method, body] = index % 2 === 0 ? ['GET', ''] : ['POST', 'body']
        const request = session.request({ ':path': '/', ':method': method }, { endStream: false })
        const answer = await readAll(request.end(body))
        if (answer !== (body === '' ? '2.0 GET' : body)) t.fail(`${method} was answered ${answer}`)
      }
    }
    await Promise.all(Array.from({ length: workers }, work))
    t.ok(connections > 1, `${connections} connections`)
  }
})

t.test('a client that does not answer pings gets GOAWAY too', async t => {
  const { port } = await listening(t, { goawayChance: 1, reconnectGrace: 20 })
  const { socket, frames } = await byFrames(t, port, false)
  socket.write(getHttp2(1, '/'))
  await once(socket, 'end')
  t.same([goaways(frames)[0], answered(frames)], [1, [1]])
})

t.test('a request that was reset before it is read reaches no handler', async t => {
  const { port, seen } = await listening(t, { goawayChance: 1 })
  const { socket, frames } = await byFrames(t, port)
  socket.write(Buffer.concat([getHttp2(1, '/gone'), frame(RESET, 0, 1, Buffer.from([0, 0, 0, 8])), getHttp2(3, '/')]))
  await until('the other answer', () => answered(frames).includes(3))
  t.same(seen, ['/'])
})

t.test('a connection stays open for a while after GOAWAY, so that late requests do not cost responses', async t => {
  const { port } = await listening(t, { goawayChance: 1, reconnectGrace: 600_000 })
  const { socket, frames } = await byFrames(t, port)
  socket.write(getHttp2(1, '/'))
  await until('asked to leave, and answered', () => goaways(frames).length === 1 && answered(frames).length === 1)
  for (let index = 0; index < 3; index++) t.equal(await readAll(open(t, port).request({ ':path': '/' })), '2.0 GET')
  t.notOk(socket.readableEnded || socket.destroyed, 'the connection is there')
  const left = await listening(t, { goawayChance: 1, reconnectGrace: 1 })
  const session = open(t, left.port)
  const closed = once(session, 'close')
  t.equal(await readAll(session.request({ ':path': '/' })), '2.0 GET')
  await closed
})

t.test('a server that ends serves what is on its way by then, and names the last request it serves', async t => {
  const { listener, port, held } = await listening(t)
  const { socket, frames } = await byFrames(t, port)
  socket.write(getHttp2(1, '/held'))
  await until('the request', () => held.length === 1)
  socket.write(getHttp2(3, '/'))
  listener.stop()
  await until('the news, and an answer', () => goaways(frames).length > 0 && answered(frames).includes(3))
  held[0]?.end('done')
  await once(socket, 'end')
  t.same([new Set(goaways(frames)), answered(frames)], [new Set([3]), [3, 1]])
})
