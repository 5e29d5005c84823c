/** A host may bring an HTTP/2 server of its own: there requests come through Node's compatibility classes. */
import t from 'tap'
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import Fastify from 'fastify'
import orch from '../../app.js'
import { authority } from '../config/authority.js'
import { BINDINGS, PROTOBUF, binding } from '../build.js'
import type { Json, Test } from '../build.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

async function host (t: Test): Promise<ClientHttp2Session> {
  const app = Fastify({ http2: true, https: { cert: pair.certificate, key: pair.key, allowHTTP1: true } })
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/cluster' })
  const session = connect((await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost'), { rejectUnauthorized: false })
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  return session
}

async function ask (session: ClientHttp2Session, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<{ code: number, headers: IncomingHttpHeaders, bytes: Buffer, json: Json }> {
  const stream = session.request({ ':method': method, ':path': `/cluster${path}`, 'content-type': 'application/json', ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(JSON.stringify(body))
  const [head] = await once(stream, 'response') as [IncomingHttpHeaders & { ':status': number }]
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  const bytes = Buffer.concat(pieces)
  return { code: head[':status'], headers: head, bytes, json: bytes[0] === 0x7b ? JSON.parse(bytes.toString()) as Json : {} }
}

t.test('objects, lists of any size and refusals', async t => {
  const session = await host(t)
  const annotations = { text: 'x'.repeat(20_000) }
  for (let at = 0; at < 50; at++) t.equal((await ask(session, 'POST', BINDINGS, binding(`b${at}`, { metadata: { annotations } }))).code, 201)
  const one = await ask(session, 'GET', `${BINDINGS}/b7`)
  t.match(one, { code: 200, json: { metadata: { name: 'b7', annotations } }, headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private', 'audit-id': String } })
  const all = await ask(session, 'GET', BINDINGS)
  t.equal(all.json.items.length, 50)
  t.equal(Number(all.headers['content-length']), all.bytes.length)
  t.equal((await ask(session, 'GET', BINDINGS, undefined, { accept: PROTOBUF })).bytes.subarray(0, 4).toString('hex'), '6b387300')
  t.match(await ask(session, 'PATCH', `${BINDINGS}/b7`, { metadata: { labels: { a: 'b' } } }, { 'content-type': 'application/merge-patch+json' }), { code: 200, json: { metadata: { labels: { a: 'b' } } } })
  t.match(await ask(session, 'GET', `${BINDINGS}/none`), { code: 404, json: { kind: 'Status' } })
  t.match(await ask(session, 'DELETE', `${BINDINGS}/b7`), { code: 200 })
})

t.test('a watch', async t => {
  const session = await host(t)
  const { json } = await ask(session, 'GET', BINDINGS)
  const watch = session.request({ ':path': `/cluster${BINDINGS}?watch=1&resourceVersion=${json.metadata.resourceVersion}&timeoutSeconds=3` })
  await once(watch, 'response')
  const names: string[] = []
  const ended = (async () => {
    let text = ''
    for await (const piece of watch) {
      text += String(piece)
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) names.push((JSON.parse(line) as Json).object.metadata.name)
    }
  })()
  for (const name of ['a', 'b', 'c']) await ask(session, 'POST', BINDINGS, binding(name))
  await ended
  t.same(names, ['a', 'b', 'c'])
})
