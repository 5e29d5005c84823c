/** HTTP/2 requests that are answered before their body has ended, on connections that then stay silent. */
import t from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type Http2Session } from 'node:http2'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import Fastify from '../../fastify.js'
import requestInfo from '../../../plugins/request-info/index.js'
import { systemClock } from '../../../event-loop/clock.js'
import { until } from '../../secure-server.js'
import { authority } from '../../serving/authority.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

t.test('an answered request ends though its connection is silent', async t => {
  const app = Fastify({ http2: true, https: { cert: pair.certificate, key: pair.key, allowHTTP1: true } })
  t.teardown(() => app.close())
  let underWay = 0
  app.decorate('orchClock', systemClock)
  await app.register(requestInfo)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'POST') return done()
    underWay++
    request.orch?.onClosed(() => { underWay-- })
    reply.code(413).send('too large')
  })
  app.post('/', async () => '')
  let large = false
  app.get('/large', (_request, reply) => {
    large = true
    reply.hijack()
    reply.raw.writeHead(200)
    reply.raw.write(Buffer.alloc(64 * 1024 * 1024))
  })
  const sessions: Http2Session[] = []
  app.server.on('session', (session: Http2Session) => { sessions.push(session) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  const between = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    sockets.push(client, upstream)
    for (const socket of [client, upstream]) socket.on('error', () => {})
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(between, 'listening')
  t.teardown(() => {
    for (const session of sessions) session.destroy() // Node would wait for data that can no longer be sent
    for (const socket of sockets) socket.destroy()
    between.close()
  })

  const session = connectHttp2(`https://127.0.0.1:${(between.address() as AddressInfo).port}`, {
    rejectUnauthorized: false, settings: { initialWindowSize: 2 ** 31 - 1 }
  })
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  await once(session, 'connect')
  session.setLocalWindowSize(2 ** 31 - 1)
  const post = session.request({ ':method': 'POST', ':path': '/' })
  post.on('error', () => {})
  post.write('the beginning')
  const [head] = await once(post, 'response') as [Record<string, unknown>]
  t.equal(head[':status'], 413)
  post.resume()
  await once(post, 'end')
  t.equal(underWay, 1, 'its body may still come')
  sockets[1]?.unpipe().pause()
  session.request({ ':path': '/large' }).on('error', () => {})
  await until(t, 'an answer that fills the connection', () => large)
  await until(t, 'its end', () => underWay === 0)
  t.pass()
})
