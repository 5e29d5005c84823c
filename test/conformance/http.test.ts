/**
 * The same operations over TLS, with HTTP/1.1 and HTTP/2 on one port, against the started server on the embedded store.
 */
import t from 'tap'
import { connect, type ClientHttp2Session } from 'node:http2'
import { Agent, request } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import { TABLE, BINDINGS, PROTOBUF, binding, type Json } from '../build.js'
import { RunningServer, TOKEN } from '../interop/server.js'

interface Reply {
  readonly code: number
  readonly headers: Record<string, unknown>
  readonly bytes: Buffer
  readonly json: Json
}
type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>

const json = (bytes: Buffer): Json => {
  try {
    return JSON.parse(bytes.toString()) as Json
  } catch {
    return {}
  }
}
const headersOf = (body: unknown, more: Record<string, string>): Record<string, string> => ({
  authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more
})

function http1 (server: RunningServer, agent: Agent): Ask {
  return (method, path, body, headers = {}) => new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, {
      method, agent, ca: server.ca, headers: headersOf(body, headers)
    }, response => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => {
        const bytes = Buffer.concat(pieces)
        resolve({ code: response.statusCode ?? 0, headers: response.headers, bytes, json: json(bytes) })
      })
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function http2 (session: ClientHttp2Session): Ask {
  return (method, path, body, headers = {}) => new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, ...headersOf(body, headers) })
    const pieces: Buffer[] = []
    let head: Record<string, unknown> = {}
    stream.on('response', found => { head = found })
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('error', reject)
    stream.on('end', () => {
      const bytes = Buffer.concat(pieces)
      resolve({ code: Number(head[':status']), headers: head, bytes, json: json(bytes) })
    })
    stream.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

t.test('one port, two protocols, one behaviour', async t => {
  const server = await RunningServer.start(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const session = connect(server.url, { ca: server.ca })
  t.teardown(() => {
    agent.destroy()
    session.destroy()
  })
  const protocols: Record<string, Ask> = { 'HTTP/1.1': http1(server, agent), 'HTTP/2': http2(session) }

  for (const [protocol, ask] of Object.entries(protocols)) {
    t.test(`every operation over ${protocol}`, async t => {
      const name = protocol.toLowerCase().replace(/\W/g, '-')
      const url = `${BINDINGS}/${name}`
      const made = await ask('POST', BINDINGS, binding(name))
      t.match(made, {
        code: 201,
        json: { kind: 'ClusterRoleBinding', metadata: { name } },
        headers: {
          'content-type': 'application/json',
          'audit-id': String,
          'cache-control': 'no-cache, private',
          'x-content-type-options': 'nosniff'
        }
      })
      t.same((await ask('GET', url)).json, made.json)
      t.match(await ask('PUT', url, { ...made.json, subjects: [{ kind: 'Group', name: 'crew' }] }), {
        code: 200, json: { subjects: [{ kind: 'Group' }] }
      })
      t.match(
        await ask(
          'PATCH', url, { metadata: { labels: { by: 'patch' } } }, { 'content-type': 'application/merge-patch+json' }
        ),
        { code: 200, json: { metadata: { labels: { by: 'patch' } } } }
      )
      t.ok((await ask('GET', BINDINGS)).json.items.some(({ metadata }: Json) => metadata.name === name))
      t.match(await ask('GET', BINDINGS, undefined, { accept: TABLE }), { code: 200, json: { kind: 'Table' } })
      t.equal((await ask('GET', url, undefined, { accept: PROTOBUF })).bytes.subarray(0, 4).toString('hex'), '6b387300')
      t.match(await ask('GET', `${BINDINGS}/none`), { code: 404, json: { kind: 'Status', reason: 'NotFound' } })
      t.match(await ask('PUT', url, made.json), { code: 409, json: { reason: 'Conflict' } })
      t.match(await ask('GET', `${BINDINGS}?limit=x`), { code: 400, json: { kind: 'Status', reason: 'BadRequest' } })
      t.match(await ask('GET', BINDINGS, undefined, { accept: 'text/html' }), {
        code: 406, json: { reason: 'NotAcceptable' }
      })
      t.match(
        await ask('GET', BINDINGS, undefined, { authorization: '' }),
        { code: 401, json: { kind: 'Status', reason: 'Unauthorized' } }, 'anonymous requests are off'
      )
      t.match(await ask('GET', BINDINGS, undefined, { authorization: 'Bearer unknown' }), { code: 401 })
      t.match(await ask('DELETE', url), { code: 200, json: { kind: 'Status', status: 'Success' } })
      t.equal((await ask('GET', url)).code, 404)
      t.match(await ask('DELETE', `${BINDINGS}?labelSelector=none`), { code: 200, json: { kind: 'Status' } })
    })
  }

  t.test('a watch over one protocol sees what is written over the other', async t => {
    const { resourceVersion } = (await (protocols['HTTP/1.1'] as Ask)('GET', BINDINGS)).json.metadata
    const path = `${BINDINGS}?watch=1&resourceVersion=${resourceVersion}`
    const lines = new Map<string, string[]>()
    const follow = (title: string, source: NodeJS.ReadableStream): Promise<void> => new Promise(resolve => {
      let text = ''
      const seen: string[] = []
      lines.set(title, seen)
      source.on('data', (piece: Buffer) => {
        text += piece.toString()
        const whole = text.split('\n')
        text = whole.pop() ?? ''
        for (const line of whole) {
          const { type, object } = JSON.parse(line) as { type: string, object: Json }
          seen.push(`${type} ${object.metadata.name}`)
        }
        if (seen.length >= 20) resolve()
      })
      source.on('error', () => {})
    })
    const one = request(`${server.url}${path}`, { agent: false, ca: server.ca, headers: headersOf(undefined, {}) })
    one.on('error', () => {})
    one.end()
    const [response] = await once(one, 'response') as [NodeJS.ReadableStream]
    const stream = session.request({ ':path': path, ...headersOf(undefined, {}) })
    const done = [follow('HTTP/1.1', response), follow('HTTP/2', stream)]
    for (let index = 0; index < 20; index++) {
      await (protocols[index % 2 === 0 ? 'HTTP/1.1' : 'HTTP/2'] as Ask)('POST', BINDINGS, binding(`seen-${index}`))
    }
    await Promise.all(done)
    const wanted = Array.from({ length: 20 }, (_, index) => `ADDED seen-${index}`)
    for (const [title, seen] of lines) t.same(seen.slice(0, 20), wanted, title)
    one.destroy()
    stream.close()
  })

  t.test('many requests share a connection', async t => {
    const answers = await Promise.all(Object.values(protocols).flatMap(ask =>
      Array.from({ length: 100 }, (_, index) => ask('GET', index % 2 === 0 ? BINDINGS : `${BINDINGS}/none`))))
    t.same(answers.map(({ code }) => code), Array.from({ length: 200 }, (_, index) => index % 2 === 0 ? 200 : 404))
  })

  t.test('TLS only, by its own certificate, and the protocol by negotiation', async t => {
    for (const [offer, wanted] of [[['h2', 'http/1.1'], 'h2'], [['http/1.1'], 'http/1.1'], [[], false]] as const) {
      const socket = connectTls({ port: server.port, host: '127.0.0.1', ca: server.ca, ALPNProtocols: [...offer] })
      await once(socket, 'secureConnect')
      t.equal(socket.alpnProtocol, wanted)
      t.ok(socket.authorized)
      t.match(socket.getProtocol(), /^TLSv1\.[23]$/)
      socket.destroy()
    }
    const plain = await fetch(`http://127.0.0.1:${server.port}/livez`)
    t.equal(plain.status, 400)
    t.match(await plain.text(), /HTTP request to an HTTPS server/)
  })

  t.test('objects survive a restart', async t => {
    const { json: before } = await (protocols['HTTP/1.1'] as Ask)('GET', BINDINGS)
    agent.destroy()
    session.destroy()
    t.equal(await server.stop(), 0, 'SIGTERM ends it in order')
    await server.start()
    const after = JSON.parse((await server.ask(BINDINGS)).body) as Json
    t.same(after.items, before.items)
    t.ok(Number(after.metadata.resourceVersion) >= Number(before.metadata.resourceVersion))
    const made = JSON.parse((await server.ask(BINDINGS, 'POST', binding('after'))).body) as Json
    t.ok(Number(made.metadata.resourceVersion) > Number(before.metadata.resourceVersion), 'and versions go on rising')
  })
})
