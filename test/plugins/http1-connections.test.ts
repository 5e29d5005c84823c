/** HTTP/1.1 pipelines on the servers of hosts, which lack the launcher's listener. */
import t from 'tap'
import { once } from 'node:events'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { host } from '../../examples/embed.js'
import { answersIn, get, open, pipelined, type Address } from '../pipelined.js'
import type { Test } from '../build.js'
import { until } from '../secure-server.js'
import { authority } from '../serving/authority.js'

const { certificate: cert, key } = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
const SERVERS: Record<string, object> = {
  http: {},
  https: { https: { cert, key } },
  'http2 with HTTP/1.1': { http2: true, https: { cert, key, allowHTTP1: true } }
}

const CONFIGS = '/cluster/api/v1/namespaces/default/configmaps'
const LAST = get('/cluster/livez', { connection: 'close' })
const post = (path: string, body: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ` +
  `${Buffer.byteLength(body)}\r\n${headers}\r\n`

type Then = (t: Test & typeof import('tap').t, address: Address, fastify: FastifyInstance) => Promise<void>

function onEach (
  name: string, then: Then, { where = 'localhost', ...more }: FastifyServerOptions & { where?: string } = {}
): void {
  void t.test(name, async t => {
    for (const [kind, options] of Object.entries(SERVERS)) {
      await t.test(kind, async t => {
        const fastify = await host({ ...options, ...more })
        t.teardown(() => fastify.close())
        await fastify.listen({ port: 0, host: where })
        const address = { port: (fastify.server.address() as AddressInfo).port, secure: kind !== 'http' }
        for (;;) {
          const [answer] = await pipelined(address, [get('/cluster/readyz', { connection: 'close' })], { pause: 0 })
          if (answer?.code === 200) break
          await sleep(5)
        }
        await then(t as never, address, fastify)
      })
    }
  })
}

const manyAtOnce: Then = async (t, address) => {
  for (const count of [50, 300]) {
    const bodies = Array.from(
      { length: count },
      (_, at) => JSON.stringify({ metadata: { name: `p${count}-${at}` }, data: { k: 'x'.repeat(400) } })
    )
    const made = await pipelined(address, [...bodies.map(body => post(CONFIGS, body) + body), LAST], { pause: 0 })
    t.same(made.map(({ code }) => code), [...bodies.map(() => 201), 200], `${count} POSTs`)
    const read = await pipelined(
      address, [...bodies.map((_, at) => get(`${CONFIGS}/p${count}-${at}`, { 'x-pad': 'y'.repeat(400) })), LAST],
      { pause: 1 }
    )
    t.same(read.map(({ code }) => code), [...bodies.map(() => 200), 200], `${count} GETs`)
    t.same(
      read.slice(0, -1).map(({ body }) => (JSON.parse(String(body)) as { metadata: { name: string } }).metadata.name),
      bodies.map((_, at) => `p${count}-${at}`)
    )
    const refused = await pipelined(
      address, [...bodies.map(() => get(`/cluster/%zz?${'y'.repeat(400)}`)), LAST], { pause: 0 }
    )
    t.same(refused.map(({ code }) => code), [...bodies.map(() => 400), 200], `${count} bad ones`)
  }
}

onEach('requests that come many at a time are all answered, in their order', manyAtOnce)
onEach('also where the host ends whatever it takes for bad HTTP', manyAtOnce, {
  clientErrorHandler: (_error, socket) => { socket.destroy() }, where: '127.0.0.1'
})

onEach(
  'of requests that come many at a time, few are begun in a turn of the event loop', async (t, address, fastify) => {
    let [ofTurn, most] = [0, 0]
    fastify.server.on('request', () => {
      if (++ofTurn === 1) setImmediate(() => { ofTurn = 0 })
      most = Math.max(most, ofTurn)
    })
    const answers = await pipelined(
      address, [...Array.from({ length: 999 }, () => get('/cluster/api')), LAST], { pause: 0 }
    )
    t.equal(answers.length, 1000)
    t.ok(most <= 32, `${most} in a turn`)
  }, { where: '127.0.0.1' }
)

onEach('who asks whether to go on is told in its turn, and not amid an answer', async (t, address) => {
  const socket = await open(address)
  t.teardown(() => { socket.destroy() })
  let text = ''
  socket.on('data', (piece: Buffer) => { text += String(piece) })
  const body = '{"metadata":{"name":"expecting"}}'
  socket.write(
    get('/cluster/api/v1/configmaps?watch=1&timeoutSeconds=1') +
      post(CONFIGS, body, 'Expect: 100-continue\r\nConnection: close\r\n')
  )
  await until(t as never, 'the interim answer', () => text.includes('100 Continue'))
  t.match(text, /\r\n0\r\n\r\nHTTP\/1.1 100 Continue\r\n\r\n$/)
  socket.write(body)
  await once(socket, 'close')
  t.match(text, /HTTP\/1.1 201 /)

  const own = await open(address)
  t.teardown(() => { own.destroy() })
  own.write(post('/echo', '[]', 'Expect: 100-continue\r\nConnection: close\r\n'))
  t.match(String((await once(own, 'data'))[0]), /^HTTP\/1.1 100 /, 'on routes of the host too')
  own.write('[]')
  t.match(String((await once(own, 'data'))[0]), /^HTTP\/1.1 200 /)
})

onEach('nobody is told to send a body that is too large', async (t, address) => {
  const socket = await open(address)
  t.teardown(() => { socket.destroy() })
  socket.write(
    `POST ${CONFIGS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n` +
    `Content-Length: ${(3 << 20) + 1}\r\n\r\n`
  )
  const chunks: Buffer[] = []
  socket.on('data', (piece: Buffer) => { chunks.push(piece) })
  await once(socket, 'close')
  t.match(answersIn(Buffer.concat(chunks)), [{ code: 413 }])

  const own = await open(address)
  t.teardown(() => { own.destroy() })
  own.write(`POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${(3 << 20) + 1}\r\n\r\n`)
  t.match(String((await once(own, 'data'))[0]), /^HTTP\/1.1 100 /, 'how much the host takes is its own matter')
})

onEach('a host that answers expectations itself goes on doing so', async (t, address, fastify) => {
  const asked: string[] = []
  fastify.server.on('checkContinue', (request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(417, { connection: 'close' }).end()
  })
  const [answer] = await pipelined(address, [post(CONFIGS, '{}', 'Expect: 100-continue\r\n')], { pause: 0 })
  t.equal(answer?.code, 417)
  t.same(asked, [CONFIGS])
}, { where: '127.0.0.1' })

onEach('a version that is not spoken on this connection is refused, and it is closed', async (t, address) => {
  for (const [version, code] of [['2.0', 505], ['0.9', 400]] as const) {
    for (const path of ['/livez', '/nothing', '/api/v1/configmaps']) {
      const answers = await pipelined(address, [`GET /cluster${path} HTTP/${version}\r\nHost: x\r\n\r\n`], { pause: 0 })
      t.match(answers, [{ code }], `${path} ${version}`)
      t.equal(answers[0]?.headers.get('connection'), 'close')
      t.match(JSON.parse(String(answers[0]?.body)), { kind: 'Status', status: 'Failure', code })
    }
  }
})

onEach('a request of HTTP/1.1 names one host, and its connection is closed where it does not', async (t, address) => {
  const ask = (version: string, headers: string): string => `GET /cluster/livez HTTP/${version}\r\n${headers}\r\n`
  for (const headers of [
    '', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n', 'Host: a b\r\n', 'Host: a/b\r\n', 'Host: user@a\r\n'
  ]) {
    const [answer] = await pipelined(address, [ask('1.1', headers)], { pause: 0 })
    t.equal(answer?.code, 400, JSON.stringify(headers))
    t.equal(answer?.headers.get('connection'), 'close')
    // A host's server that speaks only HTTP/1 rejects a missing header itself, without a body.
    if (headers !== '') {
      t.match(JSON.parse(String(answer?.body)), { kind: 'Status', status: 'Failure', reason: 'BadRequest', code: 400 })
    }
  }
  for (const [version, headers] of [
    ['1.0', ''], ['1.0', 'Host: x\r\n'], ['1.1', 'Host:\r\n'], ['1.1', 'Host: [::1%25eth0]:6443\r\n'],
    ['1.1', 'Host: a.b_c-d.:80\r\n']
  ] as const) {
    const [answer] = await pipelined(address, [ask(version, `${headers}Connection: close\r\n`)], { pause: 0 })
    t.equal(answer?.code, 200, JSON.stringify(headers))
  }
})
