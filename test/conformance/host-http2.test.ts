/** A host's own HTTP/2 server, whose requests come through Node's compatibility classes. */
import t from 'tap'
import { once } from 'node:events'
import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { authority } from '../serving/authority.js'
import { BINDINGS, PROTOBUF, binding, type Json, type Test } from '../build.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

async function host (t: Test): Promise<ClientHttp2Session> {
  const app = Fastify({ http2: true, https: { cert: pair.certificate, key: pair.key, allowHTTP1: true } })
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/cluster' })
  const session = connect(
    (await app.listen({ port: 0, host: '127.0.0.1' })).replace('127.0.0.1', 'localhost'), { rejectUnauthorized: false }
  )
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  return session
}

async function ask (
  session: ClientHttp2Session, method: string, path: string, body?: unknown, headers: Record<string, string> = {}
): Promise<{ code: number, headers: IncomingHttpHeaders, bytes: Buffer, json: Json }> {
  const stream = session.request(
    { ':method': method, ':path': `/cluster${path}`, 'content-type': 'application/json', ...headers },
    { endStream: body === undefined }
  )
  if (body !== undefined) stream.end(JSON.stringify(body))
  const [head] = await once(stream, 'response') as [IncomingHttpHeaders & { ':status': number }]
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  const bytes = Buffer.concat(pieces)
  return {
    code: head[':status'], headers: head, bytes, json: bytes[0] === 0x7b ? JSON.parse(bytes.toString()) as Json : {}
  }
}

t.test('objects, lists of any size and refusals', async t => {
  const session = await host(t)
  const annotations = { text: 'x'.repeat(20_000) }
  for (let at = 0; at < 50; at++) {
    t.equal((await ask(session, 'POST', BINDINGS, binding(`b${at}`, { metadata: { annotations } }))).code, 201)
  }
  const one = await ask(session, 'GET', `${BINDINGS}/b7`)
  t.match(one, {
    code: 200,
    json: { metadata: { name: 'b7', annotations } },
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private', 'audit-id': String }
  })
  const all = await ask(session, 'GET', BINDINGS)
  t.equal(all.json.items.length, 50)
  t.equal(Number(all.headers['content-length']), all.bytes.length)
  t.equal(
    (await ask(session, 'GET', BINDINGS, undefined, { accept: PROTOBUF })).bytes.subarray(0, 4).toString('hex'),
    '6b387300'
  )
  t.match(
    await ask(
      session, 'PATCH', `${BINDINGS}/b7`, { metadata: { labels: { a: 'b' } } },
      { 'content-type': 'application/merge-patch+json' }
    ),
    { code: 200, json: { metadata: { labels: { a: 'b' } } } }
  )
  t.match(await ask(session, 'GET', `${BINDINGS}/none`), { code: 404, json: { kind: 'Status' } })
  t.match(await ask(session, 'DELETE', `${BINDINGS}/b7`), { code: 200 })
})

t.test('a watch', async t => {
  const session = await host(t)
  const { json } = await ask(session, 'GET', BINDINGS)
  const watch = session.request({
    ':path': `/cluster${BINDINGS}?watch=1&resourceVersion=${json.metadata.resourceVersion}&timeoutSeconds=3`
  })
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

t.test('a stream that is answered before its body has ended is over with its answer', async t => {
  for (const tls of [true, false]) {
    const options = { http2: true, ...tls ? { https: { cert: pair.certificate, key: pair.key } } : {} }
    const app = Fastify(options as object)
    t.teardown(() => app.close())
    await app.register(orch, { prefix: '/cluster', limits: { requestTimeout: 2000, maxBodyBytesInflight: 5_000_000 } })
    const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }), { rejectUnauthorized: false })
    session.on('error', () => {})
    t.teardown(() => { session.destroy() })
    const answered = async (path: string, bytes: number, method = 'POST', headers = {}): Promise<unknown> => {
      const stream = session.request(
        { ':method': method, ':path': path, 'content-type': 'application/json', ...headers }, { endStream: false }
      )
      stream.on('error', () => {}).resume().write(Buffer.alloc(bytes, 0x20))
      const closed = once(stream, 'close')
      const [head] = await once(stream, 'response') as [IncomingHttpHeaders & { ':status': number }]
      await closed
      return [head[':status'], stream.rstCode]
    }
    const path = `/cluster${BINDINGS}`
    // Concurrently, because each waits some seconds for the rest of its body.
    t.same(await Promise.all([
      answered(path, 1000),
      answered(path, 3 * 1024 * 1024 + 1),
      answered(path, 1000, 'POST', { authorization: 'Bearer none' }),
      answered('/cluster/none', 1000),
      answered('/cluster/api/v1/%2f', 1000),
      answered(path, 1000, 'POST', { 'content-encoding': 'gzip' }),
      answered(path, 0, 'GET')
    ]), [408, 413, 401, 404, 400, 415, 200].map(code => [code, 0]))
  }
})

t.test('an answer that is cut off ends with an error code, and not as if it were whole', async t => {
  await Promise.all([true, false].map(async tls => {
    const app = Fastify({ http2: true, ...tls ? { https: { cert: pair.certificate, key: pair.key } } : {} } as object)
    t.teardown(() => app.close())
    // enough for each of these on a busy machine
    await app.register(orch, { prefix: '/cluster', limits: { requestTimeout: 5000 } })
    const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }), { rejectUnauthorized: false })
    session.on('error', () => {})
    t.teardown(() => { session.destroy() })
    const annotations = { text: 'x'.repeat(200_000) }
    for (let at = 0; at < 10; at++) {
      t.equal((await ask(session, 'POST', BINDINGS, binding(`b${at}`, { metadata: { annotations } }))).code, 201)
    }
    const cut = once(app.server, 'stream').then(async ([stream]) => {
      await new Promise(resolve => stream.once('close', resolve))
    })
    const list = session.request({ ':path': `/cluster${BINDINGS}` })
    list.on('error', () => {})
    const closed = new Promise(resolve => list.once('close', resolve))
    await once(list, 'response') // and reads no more than fits its window
    await cut
    list.resume()
    await closed
    t.equal(list.rstCode, constants.NGHTTP2_INTERNAL_ERROR, tls ? 'over TLS' : 'in the clear')
  }))
})
