/** Clients that do not read the state they have asked for: it waits in the cache, not in their connections. */
import { connect as connectHttp2, type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import orch from '../../app.js'
import { client, listen, Watch, type Client } from '../build.js'
import Fastify from '../fastify.js'
import { polled } from '../polled.js'

const PATH = '/api/v1/namespaces/default/configmaps'
const MARKED = 'watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true'
const DEAF = 10
/** What waits in this process for a client that does not read: a chunk and one object or leaf more. */
const MOST_WAITING = 256 * 1024

const STATES = [['of leaves that are joined', 2800, 3500], ['of large objects', 300, 35_000]] as const

const nameOf = (at: number): string => `c${String(at).padStart(4, '0')}`

async function fill (server: Client, count: number, size: number): Promise<void> {
  const text = 'x'.repeat(size)
  for (let at = 0; at < count; at++) {
    const { code } = await server.post(PATH, { metadata: { name: nameOf(at) }, data: { text } })
    if (code !== 201) throw new Error(String(code))
  }
}

for (const [name, count, size] of STATES) {
  t.test(`a state ${name} is sent to each client as it reads`, async t => {
    const server = await listen(t)
    await fill(server, count, size)
    const read = async (): Promise<void> => {
      const watch = await Watch.open(t, `${server.url}${PATH}?${MARKED}`)
      const events = await watch.take(count + 1)
      t.same(events.map(({ type, object }) => `${type} ${String(object.metadata.name)}`), [
        ...Array.from({ length: count }, (_, at) => `ADDED ${nameOf(at)}`), 'BOOKMARK undefined'
      ])
      watch.close()
    }
    for (let time = 0; time < 2; time++) await read() // leaves are joined now
    const sockets: Socket[] = []
    server.app.server.on('connection', socket => { sockets.push(socket) })
    const before = process.memoryUsage().arrayBuffers
    const deaf = Array.from({ length: DEAF }, () => {
      const client = connect(server.port, '127.0.0.1')
      t.teardown(() => { client.destroy() })
      client.on('error', () => {})
      client.pause()
      client.write(`GET ${PATH}?${MARKED} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return client
    })
    while (sockets.length < DEAF || sockets.some(({ writableLength }) => writableLength === 0)) await turn()
    const waiting = [...sockets]
    await read()
    for (const { writableLength } of waiting) {
      t.ok(writableLength > 0 && writableLength <= MOST_WAITING, `${writableLength} bytes wait`)
    }
    const grown = process.memoryUsage().arrayBuffers - before
    t.ok(grown < DEAF * size * count / 4, `${grown} bytes more than before`)

    const [late] = deaf
    let [received, tail] = [0, '']
    late?.on('data', (bytes: Buffer) => {
      received += bytes.length
      tail = (tail + bytes.subarray(-1000).toString('latin1')).slice(-1000)
    })
    late?.resume()
    while (!tail.includes('initial-events-end')) await turn()
    t.ok(received > size * count, 'who reads at last gets all of it')
  })
}

t.test('over HTTP/2 a stream that is not read holds as little, beside those that are', async t => {
  const app = Fastify({ ...{ http2: true } as object, forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(orch)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const server = client(app)
  await polled(async () => (await server.get('/readyz')).code === 200)
  const [, count, size] = STATES[0]
  await fill(server, count, size)
  const session = connectHttp2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`) // it listens on a port
  t.teardown(() => { session.destroy() })
  const open = (): ClientHttp2Stream => session.request({ ':path': `${PATH}?${MARKED}` })
  const read = async (stream: ClientHttp2Stream): Promise<void> => {
    let [events, tail] = [0, '']
    for await (const bytes of stream) {
      const text = tail + (bytes as Buffer).toString('latin1')
      events += text.split('\n').length - 1
      tail = text.slice(text.lastIndexOf('\n') + 1)
      if (events > count) break
    }
    t.equal(events, count + 1)
    stream.destroy()
  }
  for (let time = 0; time < 2; time++) await read(open()) // leaves are joined now
  const streams: ServerHttp2Stream[] = []
  app.server.on('stream', (stream: ServerHttp2Stream) => { streams.push(stream) })
  const before = process.memoryUsage().arrayBuffers
  const deaf = Array.from({ length: DEAF }, open)
  while (streams.length < DEAF || streams.some(({ writableLength }) => writableLength === 0)) await turn()
  const waiting = [...streams]
  await read(open())
  for (const { writableLength } of waiting) {
    t.ok(writableLength > 0 && writableLength <= MOST_WAITING, `${writableLength} bytes wait`)
  }
  const grown = process.memoryUsage().arrayBuffers - before
  t.ok(grown < DEAF * size * count / 4, `${grown} bytes more than before`)
  const [late] = deaf
  if (late !== undefined) await read(late)
})
