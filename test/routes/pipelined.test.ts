/** HTTP/1.1 responses that wait behind others on their connection: they are not sent yet, and may never be. */
import t from 'tap'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROTOBUF, TABLE, listen, type Client } from '../build.js'
import { answersIn, get, open, pipelined, type Address, type Piped } from '../pipelined.js'
import { random } from '../random.js'
import { serve, until } from '../secure-server.js'

const COUNT = 300
const configs = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
const watch = (seconds: number): string => `${configs('default')}?watch=1&timeoutSeconds=${seconds}`
const LAST = { connection: 'close' }

/** Namespaces of some 600 KB each, distinguishable in every part of their bytes. */
async function fill (server: Client, namespaces: readonly string[] = ['a']): Promise<void> {
  for (const namespace of namespaces) {
    await server.post('/api/v1/namespaces', { metadata: { name: namespace } })
    for (let at = 0; at < COUNT; at++) {
      const { code } = await server.post(
        configs(namespace),
        { metadata: { name: `${namespace}-${at}` }, data: { text: `${namespace}${at}-`.repeat(300) } }
      )
      if (code !== 201) throw new Error(`create answered ${code}`)
    }
  }
}

/** The response of each path without concurrent requests. */
async function alone (
  server: Client, wanted: ReadonlyArray<readonly [path: string, headers: Record<string, string>]>
): Promise<Buffer[]> {
  return await Promise.all(wanted.map(async ([path, headers]) =>
    (await server.get(path, { ...headers, 'accept-encoding': 'identity' })).raw))
}

const LISTS: ReadonlyArray<readonly [query: string, headers: Record<string, string>]> = [
  ['', {}], ['', { 'accept-encoding': 'gzip' }], ['?pretty=1', {}], ['', { accept: PROTOBUF }],
  ['', { accept: 'application/yaml' }],
  [
    '?pretty=1', { 'accept-encoding': 'gzip' }
  ], ['?labelSelector=!none', {}], ['?limit=250', {}], ['?includeObject=Object', { accept: TABLE }]
]
/** Removes ages, which change. */
const steady = (body: Buffer): string => body.toString('latin1').replace(/"\d+[smhd]"/g, '"age"')

for (const secure of [true, false]) {
  t.test('pipelined slow readers beside others: each answer is whole and its own, ' +
    `${secure ? 'TLS' : 'in a host without TLS'}`, async t => {
    const server = secure ? await serve(t) : await listen(t)
    await fill(server, ['a', 'b'])
    const address = { port: server.port, secure }
    const { seed, int: pick } = random()
    t.comment(`seed ${seed}`)
    const compare = (answers: readonly Piped[], expected: readonly Buffer[]): number =>
      expected.filter((body, at) => answers[at]?.code !== 200 ||
        !(body.equals(answers[at].body) || steady(answers[at].body) === steady(body))).length

    for (let round = 0; round < 2; round++) {
      const over = new AbortController()
      // Meanwhile B reads its own namespace again and again.
      const whole = await alone(server, [[configs('b'), {}]])
      let foreign = 0
      let read = 0
      const others = Promise.all([0, 1].map(async () => {
        while (!over.signal.aborted) {
          foreign += compare(await pipelined(address, [get(configs('b'), LAST)], { pause: 0 }), whole)
          read++
          await sleep(50) // leaves some CPU to the readers
        }
      }))
      const readers = Array.from({ length: 3 }, async () => {
        const lists = Array.from({ length: 1 + pick(2) }, () => LISTS[pick(LISTS.length)] as typeof LISTS[number])
          .map(([query, headers]) => [`${configs('a')}${query}`, headers] as const)
        const small = Array.from({ length: 20 + pick(20) }, () => [`${configs('a')}/a-${pick(COUNT)}`, {}] as const)
        const wanted = [...lists, ...small]
        const expected = await alone(server, wanted)
        const requests = wanted.map(([path, headers]) => get(path, headers))
        const answers = await pipelined(
          address, [get(watch(1)), ...requests, get('/livez', LAST)], { pause: 1 + pick(5) }
        )
        t.equal(answers.length, wanted.length + 2, 'as many answers as requests')
        t.equal(
          compare(answers.slice(1), expected),
          0,
          'every answer is the right one: ' +
          `${lists.map(([path, headers]) => `${path} ${JSON.stringify(headers)}`).join()}`
        )
      })
      await Promise.all(readers)
      over.abort()
      await others
      t.ok(read > 0, 'others read meanwhile')
      t.equal(foreign, 0, 'and got their own responses')
    }
  })
}

t.test('an indented list with small requests behind it has each of its items once', async t => {
  const server = await serve(t)
  await fill(server)
  const requests = [
    get(`${configs('a')}?pretty=1`), ...Array.from({ length: 20 }, (_, at) => get(`${configs('a')}/a-${at}`)),
    get('/livez', LAST)
  ]
  const [list] = await pipelined({ port: server.port, secure: true }, requests, { pause: 5 })
  const items = (JSON.parse(list?.body.toString() ?? '{}') as { items: Array<{ metadata: { name: string } }> }).items
  t.equal(new Set(items.map(({ metadata }) => metadata.name)).size, COUNT)
})

/** Connections with an endless watch and requests behind it, closed by their clients. */
async function abandon (
  address: Address, connections: number, behind: readonly string[], seen: () => Promise<void>
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(address)))
  for (const socket of sockets) socket.write([get(watch(600)), ...behind].join(''))
  await seen()
  for (const socket of sockets) socket.destroy()
}

for (const secure of [true, false]) {
  t.test('requests queued behind a watch end with its connection, ' +
    `${secure ? 'TLS' : 'in a host without TLS'}`, async t => {
    const server = secure
      ? await serve(t, { limits: { maxRequestsInflight: 80 } })
      : await listen(t, { limits: { maxRequestsInflight: 80 } })
    const address = { port: server.port, secure }
    const gauge = async (name: string): Promise<number> =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await server.get('/metrics')).body)?.[1] ?? 0)
    const watches = (): Promise<number> => gauge(
      'apiserver_longrunning_requests\\{verb="WATCH",group="",version="v1",resource="configmaps",subresource="",' +
      'scope="namespace",component="apiserver"\\}'
    )
    const reads = (): Promise<number> => gauge('apiserver_current_inflight_requests\\{request_kind="readOnly"\\}')
    const settled = async (what: string, done: () => Promise<boolean>): Promise<void> => {
      for (const deadline = Date.now() + 60_000; !await done(); await sleep(100)) {
        if (Date.now() < deadline) continue
        t.fail(`waited in vain for ${what}: ${await watches()} watches, ${await reads()} reads`)
        return
      }
    }
    // Lists that are too large to be handed over at once keep their places while they wait.
    await fill(server)
    await abandon(
      address, 8, [...Array.from({ length: 12 }, () => get(`${configs('a')}/a-1`)), get(watch(600)), get(watch(600))],
      () => settled('the watches to begin', async () => await watches() === 24)
    )
    await abandon(
      address,
      12,
      Array.from({ length: 6 }, () => get(configs('a'))),
      () => settled('the lists to wait', async () => await reads() > 70)
    )
    await settled('the watches to end', async () => await watches() === 0)
    await settled('the reads to end', async () => await reads() === 1)
    t.equal((await server.get(`${configs('a')}/a-1`)).code, 200, 'no request is refused')
  })
}

for (const secure of [true, false]) {
  t.test('a watch ends with a client that had read everything, though Node has stopped reading, ' +
    `${secure ? 'TLS' : 'in a host without TLS'}`, async t => {
    const server = secure ? await serve(t) : await listen(t)
    await server.post(configs('default'), { metadata: { name: 'large' }, data: { text: 'x'.repeat(100_000) } })
    const watches = async (): Promise<number> => (await server.get('/metrics')).body.split('\n')
      .filter(line => line.startsWith('apiserver_longrunning_requests{verb="WATCH"'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    const client = await open({ port: server.port, secure })
    client.resume()
    const begun = once(client, 'data')
    client.write([get(watch(600)), ...Array.from({ length: 60 }, () => get(`${configs('default')}/large`))].join(''))
    await begun
    await until(t, 'the watch', async () => await watches() === 1)
    await sleep(500) // the requests behind it are handled, their answers wait
    client.end()
    await until(t, 'the watch to end', async () => await watches() === 0)
    t.pass()
  })
}

t.test('a server that ends does not wait for answers whose connection has closed', async t => {
  const server = await serve(t)
  await abandon(
    { port: server.port, secure: true }, 3, Array.from({ length: 20 }, () => get('/livez')),
    () => until(t, 'the requests to arrive', () => server.inFlight() === 63)
  )
  await until(t, 'the requests to end', () => server.inFlight() === 0)
  t.pass()
})

t.test('a queued list is cut off by its deadline, and its place is free again', async t => {
  const server = await serve(t, { limits: { requestTimeout: 2000 } })
  await fill(server)
  const socket = await open({ port: server.port, secure: true })
  t.teardown(() => { socket.destroy() })
  socket.write([get(watch(600)), get(configs('a'))].join(''))
  await until(t, 'both to begin', () => server.inFlight() === 2)
  await until(t, 'both to end: no answer can follow the watch any more', () => server.inFlight() === 0)
  t.pass()
})

t.test(
  'a completed request is finished in the audit log, even if its connection closed before its response', async t => {
    const path = join(mkdtempSync(join(tmpdir(), 'orch-audit-')), 'audit.log')
    const server = await serve(t, { audit: { path } })
    await server.post(configs('default'), { metadata: { name: 'going' } })
    const events = (): Array<{ stage: string, verb: string, auditID: string, responseStatus?: { code: number } }> =>
      readFileSync(path, 'utf8').trim().split('\n').map(line => JSON.parse(line) as never)
    const deletes = (stage: string): number =>
      events().filter(event => event.verb === 'delete' && event.stage === stage).length
    const address = { port: server.port, secure: true }
    const going = `${configs('default')}/going`
    await abandon(address, 1, [`DELETE ${going} HTTP/1.1\r\nHost: x\r\n\r\n`], async () => {
      const deadline = Date.now() + 60_000
      while ((await server.get(going)).code !== 404 && Date.now() < deadline) await sleep(10)
    })
    await until(t, 'the event', () => deletes('ResponseComplete') === 1)
    t.equal(deletes('RequestReceived'), 1)
  }
)

t.test('the parser of these tests detects corrupt responses', async t => {
  t.throws(() => answersIn(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc')), /cut off/)
  t.throws(
    () => answersIn(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n')), /chunk/
  )
})
