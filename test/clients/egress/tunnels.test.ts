/** Tunnels through each kind of proxy. */
import t, { type Test } from 'tap'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { openEgress, type EgressProxy, type Egress, type EgressObserver } from '../../../clients/egress/index.js'
import type { Tunnel } from '../../../clients/egress/tunnel.js'
import { until } from '../../interop/server.js'
import { PROXIES } from './proxies.js'

const TIMEOUT = 10_000

interface Opened { readonly tunnel: Tunnel, readonly outcomes: unknown[] }

function opened (proxy: EgressProxy): Opened {
  const outcomes: unknown[] = []
  const observer: EgressObserver = {
    dialled: (kind, outcome) => {
      outcomes.push([kind.protocol, kind.transport, typeof outcome === 'number' ? 'connected' : outcome])
    }
  }
  const { cluster } = openEgress({ cluster: proxy }, observer) as Required<Pick<Egress, 'cluster'>>
  return { tunnel: cluster, outcomes }
}

/** A raw TCP server. */
async function serving (t: Test, serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: false }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const target = (port: number, host = '127.0.0.1', timeout = TIMEOUT): {
  host: string
  port: number
  timeout: number
  call: string
} => ({ host, port, timeout, call: 'test' })

const closing = (stream: Duplex): Promise<void> => new Promise(resolve => { stream.once('close', () => { resolve() }) })

async function read (stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

for (const [title, make] of Object.entries(PROXIES)) {
  t.test(title, async t => {
    t.test('bytes flow in both directions, in any number, with back pressure', async t => {
      const proxy = await make(t)
      const { tunnel, outcomes } = opened(proxy.proxy)
      const bytes = randomBytes(20 * 1024 * 1024)
      const hashed = createHash('sha256')
      const port = await serving(t, socket => {
        let seen = 0
        socket.on('data', chunk => {
          hashed.update(chunk)
          seen += chunk.length
          if (seen === bytes.length) socket.end(bytes)
        })
      })
      const stream = await tunnel(target(port))
      stream.write(bytes)
      t.ok((await read(stream)).equals(bytes))
      t.equal(hashed.digest('hex'), createHash('sha256').update(bytes).digest('hex'))
      t.same(proxy.asked, [`127.0.0.1:${port}`])
      t.match(outcomes, [
        [title.startsWith('gRPC') ? 'grpc' : 'http_connect', title.includes('socket') ? 'uds' : 'tcp', 'connected']
      ])
      await until('the connection to end', () => proxy.open() === 0)
    })

    t.test('the end of either side ends the other', async t => {
      const proxy = await make(t)
      const { tunnel } = opened(proxy.proxy)
      let served: Socket | undefined
      const port = await serving(t, socket => { served = socket.resume() })
      const first = await tunnel(target(port))
      first.on('error', () => {}).resume()
      await until('the connection to be there', () => served !== undefined)
      const ended = once(served as unknown as Socket, 'close')
      first.destroy()
      await ended
      served = undefined
      const second = await tunnel(target(port))
      second.on('error', () => {}).resume()
      await until('the connection to be there', () => served !== undefined)
      const closed = closing(second)
      ;(served as unknown as Socket).destroy()
      await closed
      const third = await tunnel(target(port))
      third.on('error', () => {}).resume()
      const cut = closing(third)
      proxy.stop()
      await cut
    })

    t.test('names are resolved by the proxy, and addresses of IPv6 have brackets', async t => {
      const proxy = await make(t)
      const { tunnel } = opened(proxy.proxy)
      const port = await serving(t, socket => {
        socket.write('th')
        socket.once('data', () => { socket.end('ere') })
      })
      proxy.names.set('only.there.example:77', port)
      const ask = async (host: string, at: number): Promise<string> => {
        const stream = await tunnel(target(at, host))
        stream.write('?')
        return String(await read(stream))
      }
      t.equal(await ask('only.there.example', 77), 'there')
      proxy.names.set('[fd00::1]:80', port)
      t.equal(await ask('fd00::1', 80), 'there')
    })

    t.test('a refusal by the proxy is an error that names it, as is an unreachable proxy', async t => {
      const proxy = await make(t)
      const { tunnel, outcomes } = opened(proxy.proxy)
      await t.rejects(tunnel(target(1, 'nowhere.example')), {
        name: 'ClientError', code: 'Unreachable', message: /^test: through the proxy .*(?:503|no such address)/
      })
      await t.rejects(tunnel(target(1)), { name: 'ClientError', code: 'Unreachable', message: /(?:502|ECONNREFUSED)/ })
      proxy.stop()
      await t.rejects(tunnel(target(1)), {
        name: 'ClientError', code: 'Unreachable', message: /^test: through the proxy /
      })
      t.same(outcomes.map(outcome => (outcome as unknown[])[2]), ['proxy', 'proxy', 'connect'])
    })
  })
}

t.test('a silent proxy ends in a timeout', async t => {
  const port = await serving(t, () => {})
  // Long enough to connect on a busy machine, as the timeout counts from the start.
  const { tunnel, outcomes } = opened({ protocol: 'HTTPConnect', url: `http://127.0.0.1:${port}` })
  await t.rejects(tunnel(target(1, '127.0.0.1', 2000)), { code: 'Timeout', message: /no tunnel in time/ })
  t.same(outcomes, [['http_connect', 'tcp', 'proxy']])
})

t.test('an invalid answer or a refusal by the proxy is an error', async t => {
  for (const said of ['nonsense\r\n\r\n', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n']) {
    const port = await serving(t, socket => { socket.once('data', () => { socket.write(said) }) })
    await t.rejects(
      opened({ protocol: 'HTTPConnect', url: `http://127.0.0.1:${port}` }).tunnel(target(1)), { name: 'ClientError' },
      said
    )
  }
})
