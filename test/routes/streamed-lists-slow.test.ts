/** Clients that do not read the state they have asked for: it waits in the cache, not in their connections. */
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { listen, Watch } from '../build.js'

const PATH = '/api/v1/namespaces/default/configmaps'
const MARKED = 'watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true'
const DEAF = 10
/** What waits in this process for a client that does not read: a chunk and one object or leaf more. */
const MOST_WAITING = 256 * 1024

const STATES = [['of leaves that are joined', 2800, 3500], ['of large objects', 300, 35_000]] as const

for (const [name, count, size] of STATES) {
  t.test(`a state ${name} is sent to each client as it reads`, async t => {
    const server = await listen(t)
    const text = 'x'.repeat(size)
    for (let at = 0; at < count; at++) {
      const { code } = await server.post(PATH, { metadata: { name: `c${String(at).padStart(4, '0')}` }, data: { text } })
      if (code !== 201) throw new Error(String(code))
    }
    const read = async (): Promise<void> => {
      const watch = await Watch.open(t, `${server.url}${PATH}?${MARKED}`)
      const events = await watch.take(count + 1)
      t.same(events.map(({ type, object }) => `${type} ${String(object.metadata.name)}`), [
        ...Array.from({ length: count }, (_, at) => `ADDED c${String(at).padStart(4, '0')}`), 'BOOKMARK undefined'
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
