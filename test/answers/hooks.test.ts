/** Hooks of a host see every answer, whatever its size and format, over both protocols. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { createGzip, gunzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { host } from '../../examples/embed.js'
import type { ServerOptions } from '../../app.js'
import { client, PROTOBUF, TABLE, type Client } from '../build.js'
import { callingAgent, nodeAgent, PODS, withPod } from '../node-agent.js'
import { polled } from '../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const WATCH = `${CONFIGS}?watch=true`
const LOG = `${PODS}/web/log`
/** More than a piece of a body. */
const LARGE = 300_000

interface Got {
  readonly code: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Readable
  readonly leave: () => void
}
type Get = (path: string, headers?: Record<string, string>) => Promise<Got>

interface Hosting { readonly app: FastifyInstance, readonly server: Client, readonly get: Get }

/** The example's host with config maps and a pod that has a log. @param prepare adds hooks before it starts */
async function hosting (
  t: Test, version: 1 | 2, prepare = (_app: FastifyInstance): void => {}, server: FastifyServerOptions = {},
  more: ServerOptions = {}
): Promise<Hosting> {
  const agent = await nodeAgent(t, { request: (_request, response) => { response.end('a line\n'.repeat(LARGE / 10)) } })
  const app = await host(
    { ...server, ...version === 2 ? { http2: true } as object : {}, forceCloseConnections: true },
    { connections: callingAgent(agent), ...more }
  )
  prepare(app)
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const get = version === 1 ? overHttp1(port) : overHttp2(t, port)
  const own = client(app)
  const below: Client = {
    ...own,
    get: (url, headers) => own.get(`/cluster${url}`, headers),
    post: (url, body) => own.post(`/cluster${url}`, body),
    patch: (url, body) => own.patch(`/cluster${url}`, body)
  }
  await polled(async () => (await below.get('/readyz')).code === 200)
  await withPod(below, agent.port)
  for (const name of ['a', 'b', 'c']) {
    await below.post(CONFIGS, { metadata: { name, labels: { size: 'large' } }, data: { text: name.repeat(LARGE / 3) } })
  }
  return { app, server: below, get: (path, headers) => get(`/cluster${path}`, headers) }
}

const overHttp1 = (port: number): Get => async (path, headers = {}) => {
  const request = httpRequest({ port, path, headers, agent: false })
  request.on('error', () => {}).end()
  const [response] = await once(request, 'response')
  return { code: response.statusCode, headers: response.headers, body: response, leave: () => { request.destroy() } }
}

function overHttp2 (t: Test, port: number): Get {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  t.teardown(() => { session.destroy() })
  return async (path, headers = {}) => {
    const stream = session.request({ ':path': path, ...headers })
    stream.on('error', () => {})
    const [received] = await once(stream, 'response')
    return { code: received[':status'], headers: received, body: stream, leave: () => { stream.close() } }
  }
}

async function bytesOf (body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** Everything until the text was received. */
async function until (body: Readable, text: string): Promise<string> {
  let all = ''
  for await (const piece of body.iterator({ destroyOnReturn: false })) if ((all += String(piece)).includes(text)) break
  return all
}

const ANSWERS: ReadonlyArray<readonly [what: string, path: string, headers?: Record<string, string>, code?: number]> = [
  ['a list of 90 bytes', `${CONFIGS}?labelSelector=size%3Dnone`],
  ['a list of 300 KB', CONFIGS],
  ['an object', `${CONFIGS}/a`],
  ['a Table', CONFIGS, { accept: TABLE }],
  ['YAML', CONFIGS, { accept: 'application/yaml' }],
  ['protobuf', CONFIGS, { accept: PROTOBUF }],
  ['gzip', CONFIGS, { 'accept-encoding': 'gzip' }],
  ['an object in gzip', `${CONFIGS}/a`, { 'accept-encoding': 'gzip' }],
  ['a 404', `${CONFIGS}/nothing`, {}, 404],
  ['a document', '/openapi/v2', { 'accept-encoding': 'gzip' }],
  ['a stream of logs', LOG]
]

/** Cells of a Table that show an age differ from second to second. */
const ageless = (bytes: Buffer): string => bytes.toString('latin1').replace(/"\d+[sm](?:\d+s)?"/g, '"age"')

for (const version of [1, 2] as const) {
  t.test(`a header that a host sets is on every answer, HTTP/${version}`, async t => {
    const { server, get } = await hosting(t, version)
    for (const [what, path, headers = {}, code = 200] of ANSWERS) {
      const answer = await get(path, headers)
      t.match(answer, { code, headers: { 'x-host': 'yes' } }, what)
      const bytes = await bytesOf(answer.body)
      const length = answer.headers['content-length']
      if (length !== undefined) t.equal(bytes.length, Number(length), what)
      const isGzip = answer.headers['content-encoding'] === 'gzip'
      t.equal(isGzip, headers['accept-encoding'] === 'gzip' && path !== `${CONFIGS}/a`, what)
      const whole = await server.get(path, { ...headers, 'accept-encoding': 'identity' })
      const plain = isGzip ? gunzipSync(bytes) : bytes
      if (path !== LOG && code === 200) t.equal(ageless(plain), ageless(whole.raw), `${what} is whole`)
      else t.ok(bytes.length > 0, what)
    }
    const watch = await get(WATCH)
    t.match(watch, { code: 200, headers: { 'x-host': 'yes' } })
    t.ok((await until(watch.body, '"name":"c"')).startsWith('{"type":"ADDED"'))
    await server.post(CONFIGS, { metadata: { name: 'late' } })
    t.ok((await until(watch.body, '"name":"late"')).includes('{"type":"ADDED"'))
    watch.leave()
  })

  t.test(`a host's hook may compress every stream, HTTP/${version}`, async t => {
    const { server, get } = await hosting(t, version, app => {
      app.addHook('onSend', async (_request, reply, payload) => {
        if (typeof (payload as Readable | undefined)?.pipe !== 'function' || reply.hasHeader('content-encoding')) {
          return payload
        }
        reply.header('content-encoding', 'gzip')
        const gzip = createGzip({ flush: 2 })
        return (payload as Readable).on('error', error => { gzip.destroy(error) }).pipe(gzip)
      })
    })
    for (const path of [CONFIGS, LOG, `${CONFIGS}?pretty=true`]) {
      const { headers, body } = await get(path)
      t.match(headers, { 'x-host': 'yes', 'content-encoding': 'gzip' })
      t.notOk('content-length' in headers)
      const text = gunzipSync(await bytesOf(body))
      t.ok(path === LOG ? text.toString() === 'a line\n'.repeat(LARGE / 10) : text.length > LARGE, path)
    }
    const watch = await get(`${WATCH}&timeoutSeconds=1`)
    t.equal(watch.headers['content-encoding'], 'gzip')
    await server.post(CONFIGS, { metadata: { name: 'late' } })
    const events = gunzipSync(await bytesOf(watch.body)).toString()
    t.ok(events.includes('"name":"c"') && events.includes('"name":"late"'), 'a watch ends at its time')
  })

  t.test(`a host's hooks know the URL of a watch that ends, and its logs are quiet, HTTP/${version}`, async t => {
    const seen: unknown[] = []
    const log: string[] = []
    let wake = (): void => {}
    const { get, server } = await hosting(t, version, app => {
      app.addHook('onResponse', async ({ url, method }) => { seen.push(`response ${method} ${url}`); wake() })
      app.addHook('onRequestAbort', async ({ url, method }) => { seen.push(`abort ${method} ${url}`); wake() })
    }, {
      logger: { level: 'info', stream: { write: (line: string) => { log.push(line) } } }, disableRequestLogging: true
    })
    seen.length = log.length = 0
    const left = await get(WATCH)
    await until(left.body, '"name":"c"')
    left.leave()
    while (!seen.includes(`abort GET /cluster${CONFIGS}`)) await new Promise<void>(resolve => { wake = resolve })
    await bytesOf((await get(`${WATCH}&timeoutSeconds=1`)).body)
    while (!seen.includes(`response GET /cluster${CONFIGS}`)) await new Promise<void>(resolve => { wake = resolve })
    await server.get('/version')
    t.same(log, [])
  })
}

t.test('a hook that reads a body beside its client gets all of it', async t => {
  let bytes = 0
  const { get } = await hosting(t, 1, app => {
    app.addHook('onSend', async (_request, _reply, payload) => {
      if (payload instanceof Object && 'pipe' in payload) {
        (payload as Readable).on('data', (piece: Buffer) => { bytes += piece.length })
      }
      return payload
    })
  })
  const { headers, body } = await get(CONFIGS)
  const { length } = await bytesOf(body)
  t.ok(length > LARGE)
  t.equal(bytes, length)
  t.equal(headers['content-length'], String(length))
})

t.test('trailers of a host follow a list of known length', async t => {
  const { get } = await hosting(t, 1, app => {
    app.addHook('onRequest', async (_request, reply) => { reply.trailer('x-late', async () => 'yes') })
  })
  const { headers, body } = await get(CONFIGS)
  t.ok((await bytesOf(body)).length > LARGE)
  t.notOk('content-length' in headers)
  t.match(body, { trailers: { 'x-late': 'yes' } })
})

t.test('a hook that fails leaves a Status, and no watch behind it', async t => {
  const { get, server } = await hosting(t, 1, app => {
    app.addHook('onSend', (request, reply, _payload, done) => {
      const fails = reply.statusCode === 200 ? request.headers['x-fail'] : undefined
      if (fails === 'header') reply.header('x-bad', 'a\nb')
      if (fails === 'hook') done(new Error('no'))
      else done()
    })
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (reply.statusCode !== 200) reply.removeHeader('x-bad')
      done()
    })
  })
  for (const fails of ['hook', 'header']) {
    for (const path of [CONFIGS, WATCH, LOG]) {
      const { code, headers, body } = await get(path, { 'x-fail': fails, 'accept-encoding': 'gzip' })
      const text = String(await bytesOf(body))
      t.equal(code, 500, path)
      t.equal(headers['content-length'], String(text.length))
      t.notOk('content-encoding' in headers)
      t.match(JSON.parse(text), { kind: 'Status', reason: 'InternalError' })
    }
  }
  t.equal((await server.get(CONFIGS)).code, 200)
})

t.test('a host\'s limit for handlers does not cut watches', async t => {
  const { get, server } = await hosting(t, 1, app => {
    app.get('/never', async () => await new Promise(() => {}))
  }, { handlerTimeout: 100 } as FastifyServerOptions)
  const watch = await get(WATCH)
  await until(watch.body, '"name":"c"')
  t.equal((await server.app.inject('/never')).statusCode, 503, 'a handler that was asked later is cut')
  await server.post(CONFIGS, { metadata: { name: 'late' } })
  t.ok((await until(watch.body, '"name":"late"')).includes('ADDED'))
  watch.leave()
})

t.test('the deadline answers while a hook of the host waits, once', async t => {
  let go = (): void => {}
  const { get } = await hosting(t, 1, app => {
    app.addHook('onSend', async (request, reply) => {
      if (request.headers['x-wait'] !== undefined && reply.statusCode === 200) {
        await new Promise<void>(resolve => { go = resolve })
      }
    })
  })
  const { code, body } = await get(`${CONFIGS}?timeout=200ms`, { 'x-wait': 'yes' })
  t.equal(code, 504)
  t.match(JSON.parse(String(await bytesOf(body))), { reason: 'Timeout' })
  go()
  t.equal((await get(CONFIGS)).code, 200)
})

t.test('a body that a hook has held beyond the deadline is not sent with its code', async t => {
  const waiting: Array<() => void> = []
  const { get } = await hosting(t, 1, app => {
    app.addHook('onSend', async request => {
      if (request.headers['x-wait'] !== undefined) await new Promise<void>(resolve => { waiting.push(resolve) })
    })
  })
  const asked = get(`${CONFIGS}?timeout=200ms`, { 'x-wait': 'yes' })
  // the list's, and that of the deadline's answer
  while (waiting.length < 2) await new Promise(resolve => { setImmediate(resolve) })
  for (const go of waiting) go() // the hook of the list first
  const { code, body } = await asked
  t.equal(code, 504)
  t.match(JSON.parse(String(await bytesOf(body))), { reason: 'Timeout' })
})

t.test('an answer that a hook has held beyond the deadline never takes the place of the 504, ' +
  'whichever comes first', async t => {
  for (const path of [`${CONFIGS}/c`, '/openapi/v2', '/version', '/apis']) {
    for (const order of ['answer first', 'failure first']) {
      const waiting: Array<() => void> = []
      const { get } = await hosting(t, 1, app => {
        app.addHook('onSend', async (request, _reply, payload) => {
          if (request.headers['x-wait'] === undefined) return payload
          await new Promise<void>(resolve => { waiting.push(resolve) })
          // another one, as of a hook that changes it
          return typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.from(payload) : payload
        })
      })
      const asked = get(`${path}?timeout=200ms`, { 'x-wait': 'yes' })
      while (waiting.length < 2) await new Promise(resolve => { setImmediate(resolve) })
      for (const go of order === 'answer first' ? waiting : waiting.reverse()) {
        go()
        await new Promise(resolve => { setImmediate(resolve) })
      }
      const { code, body } = await asked
      t.equal(code, 504, `${path}, ${order}`)
      t.match(JSON.parse(String(await bytesOf(body))), { kind: 'Status', reason: 'Timeout', code: 504 })
      waiting.length = 0
    }
  }
})
