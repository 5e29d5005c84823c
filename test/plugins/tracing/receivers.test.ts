/**
 * Span receivers that are down, slow or malicious: requests do not wait for them, memory does not grow, and the log is
 * not flooded.
 */
import { once } from 'node:events'
import type { ServerHttp2Stream } from 'node:http2'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import orch from '../../../app.js'
import { client, type Test, type Client } from '../../build.js'
import Fastify from '../../fastify.js'
import { receiver, take } from '../../otlp-receiver.js'

/** More than are sent at once. */
const REQUESTS = 600

/** A server that traces all its requests; `log` contains its warnings. */
async function traced (t: Test, endpoint: string, timeout: number): Promise<{ server: Client, log: string[] }> {
  const log: string[] = []
  const app = Fastify({
    logger: {
      level: 'warn', stream: { write: (line: string) => { if (line.includes('traces cannot')) log.push(line) } }
    }
  })
  t.teardown(() => app.close())
  await app.register(orch, { tracing: { receiver: { endpoint, samplingRatePerMillion: 1_000_000, timeout } } })
  await app.ready()
  return { server: client(app), log }
}

/** Resolves when the log has a line. */
async function hasLogged (log: readonly string[]): Promise<void> {
  while (log.length === 0) await new Promise(resolve => { setImmediate(resolve) })
}

const respond = (
  headers: Record<string, string | number>, body?: (stream: ServerHttp2Stream) => void
) => (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...headers }, { endStream: body === undefined })
  body?.(stream)
}

/** Sends a message of a gigabyte, as long as anybody reads it. */
function endless (stream: ServerHttp2Stream): void {
  stream.write(Buffer.from([0, 0x40, 0, 0, 0]))
  const more = (): void => { while (!stream.destroyed && stream.write(Buffer.alloc(65_536))); }
  stream.on('drain', more)
  more()
}

const HOSTILE: Record<string, (stream: ServerHttp2Stream) => void> = {
  'never answers': () => {},
  'resets the stream': stream => { stream.close(8) },
  'ends the connection': stream => { stream.session?.destroy() },
  redirects: respond({ ':status': 302, location: 'http://127.0.0.1:1/' }),
  'answers with an error of many words': respond({ 'grpc-status': '13', 'grpc-message': 'x%0Ay'.repeat(3000) }),
  'answers with a gigabyte': respond({}, endless),
  'answers with headers that are none': respond({
    'grpc-status': '13', 'x-note': '\u00e9', 'grpc-encoding': 'x', 'grpc-accept-encoding': 'nothing'
  }),
  'wants to be left alone': stream => {
    stream.session?.goaway(11, 0, Buffer.from('too_many_pings'))
    stream.close(11)
  }
}

for (const [what, answer] of Object.entries(HOSTILE)) {
  t.test(`a receiver that ${what} is logged at most once a minute, and requests are answered`, async t => {
    const { endpoint, calls } = await receiver(t, answer)
    const said = t.capture(console, 'error')
    const hangs = what === 'never answers'
    const since = performance.now()
    const { server, log } = await traced(t, endpoint, hangs ? 500 : 20_000)
    for (let count = 0; count < REQUESTS; count++) {
      if ((await server.get('/version')).code !== 200) t.fail('a request failed')
    }
    await hasLogged(log)
    await server.app.close()
    if (!hangs) t.ok(calls.length > 0)
    t.ok(log.length <= 1 + (performance.now() - since) / 60_000, `${log.length} lines`)
    t.match(log[0], `traces cannot be sent to ${endpoint}: `)
    t.strictSame(said(), [], 'nor is anything written past it')
    t.ok((log[0]?.length ?? 0) < 1000)
  })
}

t.test('a missing receiver and one with another protocol are logged in the same way', async t => {
  const junk = createServer(socket => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  junk.listen(0, '127.0.0.1')
  await once(junk, 'listening')
  t.teardown(() => { junk.close() })
  const { port } = junk.address() as AddressInfo
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port: free } = gone.address() as AddressInfo
  await new Promise(resolve => { gone.close(resolve) })
  for (const endpoint of [`127.0.0.1:${free}`, `127.0.0.1:${port}`, 'unix:///nowhere/at/all.sock']) {
    const { server, log } = await traced(t, endpoint, 20_000)
    for (let count = 0; count < REQUESTS; count++) await server.get('/version')
    await hasLogged(log)
    await server.app.close()
    t.match(log[0], `traces cannot be sent to ${endpoint}: `)
  }
})

t.test('spans that wait for a slow receiver are bounded, and sent in the end', async t => {
  const held: ServerHttp2Stream[] = []
  let hold = true
  const { endpoint, spans } = await receiver(t, stream => { if (hold) held.push(stream); else take(stream) })
  const { server, log } = await traced(t, endpoint, 60_000)
  for (let count = 0; count < 4000; count++) await server.get('/version')
  while (held.length === 0) await new Promise(resolve => { setImmediate(resolve) })
  hold = false
  for (const stream of held.splice(0)) take(stream)
  await server.app.close()
  t.strictSame(log, [])
  t.ok(spans.length >= 2048, `${spans.length}`)
  t.ok(spans.length < 4000, `${spans.length}`)
})
