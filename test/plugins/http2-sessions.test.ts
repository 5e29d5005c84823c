/** Clients of a host's own HTTP/2 server that vanish. */
import t from 'tap'
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import Fastify from '../fastify.js'
import requestInfo from '../../plugins/request-info/index.js'
import { systemClock } from '../../event-loop/clock.js'
import http2Sessions from '../../plugins/http2-sessions.js'
import { get, open } from '../pipelined.js'
import { ruleBreaker } from '../rule-breaker.js'
import { until } from '../secure-server.js'
import { authority } from '../serving/authority.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

t.test('a request ends when its client disconnects, in any way', async t => {
  const app = Fastify({ http2: true, https: { cert: pair.certificate, key: pair.key, allowHTTP1: true } })
  t.teardown(() => app.close())
  let begun = 0
  let underWay = 0
  app.decorate('orchClock', systemClock)
  await app.register(requestInfo)
  await app.register(http2Sessions, { interval: 50 })
  app.get('/held', (request, reply) => {
    begun++
    underWay++
    request.orch?.onClosed(() => { underWay-- })
    reply.hijack()
    reply.raw.writeHead(200)
    reply.raw.write('x'.repeat(100_000))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  await t.test('one that resets its stream without an error', async t => {
    const session = connect(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false, settings: { initialWindowSize: 0 }
    })
    t.teardown(() => { session.destroy() })
    const stream = session.request({ ':path': '/held' })
    stream.on('error', () => {})
    await once(stream, 'response')
    stream.close(constants.NGHTTP2_NO_ERROR)
    await until(t, 'its end', () => underWay === 0)
    t.pass()
  })

  await t.test('one that violates the protocol and disconnects', async t => {
    const before = begun
    const socket = await ruleBreaker(t, port, '/held')
    await until(t, 'the request', () => begun > before) // newer versions of Node end it at once
    socket.destroy()
    await until(t, 'its end', () => underWay === 0)
    t.pass()
  })

  await t.test('one that only listens answers pings and continues', async t => {
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    t.teardown(() => { session.destroy() })
    const stream = session.request({ ':path': '/held' })
    stream.on('error', () => {})
    stream.resume()
    let pings = 0
    session.on('ping', () => { pings++ })
    await until(t, 'some questions', () => pings > 6)
    t.equal(underWay, 1)
  })
})

t.test('a request whose client leaves while a hook of the host waits is not served', async t => {
  const app = Fastify({ http2: true, https: { cert: pair.certificate, key: pair.key, allowHTTP1: true } })
  t.teardown(() => app.close())
  const waiting: Array<() => void> = []
  const served: string[] = []
  let left = 0
  app.addHook('onRequest', async (request, reply) => {
    if (request.url === '/last') return
    reply.raw.on('close', () => { left++ })
    await new Promise<void>(resolve => { waiting.push(resolve) })
  })
  app.decorate('orchClock', systemClock)
  await app.register(requestInfo)
  app.route({ method: ['GET', 'POST'], url: '*', handler: async ({ url }) => { served.push(url) } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  const socket = await open({ port, secure: true })
  socket.write(get('/http1') + get('/http1/behind') + get('/http1/behind'))
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  t.teardown(() => { session.destroy() })
  const streams = ['GET', 'POST'].map(method =>
    session.request({ ':path': '/http2', ':method': method }).on('error', () => {}))
  await until(t, 'all', () => waiting.length === 5)
  socket.destroy()
  for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
  await until(t, 'their end', () => left >= 3) // before Node 26, HTTP/1.1 responses behind the first one do not emit it
  for (const go of waiting) go()
  const last = session.request({ ':path': '/last' }).resume()
  await once(last, 'end')
  t.same(served, ['/last'])
})
