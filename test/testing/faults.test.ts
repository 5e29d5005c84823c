import t from 'tap'
import { get as httpGet } from 'node:http'
import { get as httpsGet } from 'node:https'
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node'
import { testServer, type Fault, type TestServer, type TestServerOptions } from '../../testing/index.js'
import { randomFrom } from '../../testing/random.js'
import { TABLE, types, Watch, type Json, type Test } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const ON = { resource: 'configmaps' }

async function started (t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer(options)
  t.teardown(() => server.dispose())
  return server
}

interface Answer { readonly code: number, readonly json: Json, readonly retryAfter: string | null }

async function call (server: TestServer, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { code: response.status, json: await response.json() as Json, retryAfter: response.headers.get('retry-after') }
}
const make = async (server: TestServer, name: string): Promise<Answer> =>
  await call(server, 'POST', CONFIGS, { metadata: { name } })

t.test(
  'failures that a server answers with: each is a Status, has no effect, and is in the log of exchanges', async t => {
    const server = await started(t)
    for (const [status, reason, retryAfter] of [
      [409, 'Conflict'], [410, 'Expired'], [429, 'TooManyRequests', 3], [500, 'InternalError'],
      [503, 'ServiceUnavailable', 1], [504, 'Timeout']
    ] as const) {
      const fault = server.faults.add({
        on: { ...ON, verb: 'create' }, status, times: 1, ...(retryAfter === undefined ? {} : { retryAfter })
      })
      const answer = await make(server, 'a')
      t.match(answer, {
        code: status, json: { kind: 'Status', reason, code: status, message: `a fault was injected: status ${status}` }
      })
      t.equal(answer.retryAfter, retryAfter === undefined ? null : String(retryAfter))
      t.match(server.exchanges.find({ status }), [{ faults: [`status ${status}`], body: { metadata: { name: 'a' } } }])
      t.equal(fault.count, 1)
    }
    t.equal((await call(server, 'GET', `${CONFIGS}/a`)).code, 404)
    t.equal((await make(server, 'a')).code, 201, 'each was injected as often as it says')
  }
)

t.test('faults are for requests that match, after those that are skipped, until they are removed', async t => {
  const server = await started(t, {
    faults: [{ on: { url: CONFIGS, method: 'GET' }, skip: 2, status: 500, name: 'third' }],
    fixtures: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fixture' } }
  })
  const codes = async (): Promise<number[]> => [
    (await call(server, 'GET', CONFIGS)).code, (await call(server, 'GET', `${CONFIGS}/none`)).code,
    (await call(server, 'GET', CONFIGS)).code, (await call(server, 'GET', '/api/v1/namespaces')).code
  ]
  t.strictSame(await codes(), [200, 404, 500, 200])
  t.match(server.exchanges.find({ status: 500 }), [{ faults: ['third'] }])
  server.faults.clear()
  t.strictSame(await codes(), [200, 404, 200, 200])
  const one = server.faults.add({ on: { user: 'ann' }, status: 503 })
  t.strictSame(await codes(), [200, 404, 200, 200])
  one.remove()
  t.equal(
    (await fetch(server.url +
      CONFIGS, { headers: { authorization: `Bearer ${server.token({ username: 'ann' })}` } })).status,
    200
  )
  server.faults.add({ status: 500 })
  t.equal((await fetch(`${server.url}/readyz`)).status, 200, 'probes are spared')
  for (const [fault, says] of [
    [{}, /no effect/], [{ on: ON }, /no effect/], [{ status: 418 }, /status: 418: must be one of 409/],
    [{ status: 409, retryAfter: 1 }, /retryAfter needs status/], [{ disconnect: 'soon' }, /disconnect: "soon"/],
    [{ delay: 'long' }, RangeError],
    [{ stale: -1 }, /stale: -1: must be a number of changes/],
    [{ status: 500, staleReads: 'any' }, /staleReads needs stale/],
    [{ stale: 1, staleReads: 'all' }, /staleReads: "all": must be accepting or any/]
  ] as Array<[Fault, RegExp]>) t.throws(() => server.faults.add(fault), says)
})

t.test('a seed decides what is random', async t => {
  const draw = async (seed: number): Promise<boolean[]> => {
    const server = await started(t, { seed, faults: [{ on: ON, probability: 0.5, status: 500 }] })
    t.equal(server.faults.seed, seed)
    const failed: boolean[] = []
    for (let at = 0; at < 20; at++) failed.push((await call(server, 'GET', CONFIGS)).code === 500)
    return failed
  }
  const first = await draw(7)
  t.ok(first.includes(true) && first.includes(false))
  t.strictSame(await draw(7), first)
  t.notSame(await draw(8), first)
  const random = randomFrom(1)
  const numbers = Array.from({ length: 10_000 }, random)
  t.ok(numbers.every(number => number >= 0 && number < 1))
  t.ok(Math.abs(numbers.reduce((sum, number) => sum + number) / 10_000 - 0.5) < 0.02)
})

t.test('a delay lasts on the clock of the server', async t => {
  const server = await started(t, { now: new Date('2030-01-01') })
  server.faults.add({ on: ON, delay: '5s' })
  let answered = false
  const answer = call(server, 'GET', CONFIGS).then(({ code }) => { answered = true; return code })
  const arrived = async (): Promise<void> => {
    while (server.exchanges.find({ verb: 'list' }).length === 0) {
      await new Promise(resolve => { setTimeout(resolve, 5) })
    }
  }
  await arrived()
  await server.clock.move('4s')
  t.notOk(answered)
  await server.clock.move('1s')
  t.equal(await answer, 200)
})

/** The body, or the way in which its end failed. The client library would wait for the rest forever. */
const whole = async (server: TestServer, path: string): Promise<{ code?: string | undefined, bytes: number }> =>
  await new Promise((resolve, reject) => {
    const { url, certificateAuthority: ca } = server
  ;(ca === undefined ? httpGet : httpsGet)(url +
    path, { agent: false, ...(ca === undefined ? {} : { ca }) }, response => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => { bytes += chunk.length })
        .on('error', ({ code }: NodeJS.ErrnoException) => { resolve({ code, bytes }) })
        .on('end', () => { resolve({ bytes }) })
    }).on('error', reject)
  })

for (const tls of [false, true]) {
  const over = tls ? 'TLS' : 'plain HTTP'
  const apiOf = (server: TestServer): { api: CoreV1Api, config: KubeConfig } => {
    const config = new KubeConfig()
    config.loadFromOptions(server.clientConfig())
    return { config, api: config.makeApiClient(CoreV1Api) }
  }

  t.test(`connections break before a request, after its effect, and in the middle of a body, over ${over}`, async t => {
    const server = await started(t, { tls })
    const { api } = apiOf(server)
    const create = async (name: string): Promise<string> => await api.createNamespacedConfigMap({
      namespace: 'default', body: { metadata: { name }, data: { text: 'x'.repeat(5000) } }
    }).then(() => 'made', () => 'failed')
    const read = async (name: string): Promise<string> =>
      await api.readNamespacedConfigMap({ namespace: 'default', name }).then(
        ({ data }) => String(data?.['text']?.length),
        error => String((error as { code?: number }).code ?? 'failed')
      )
    server.faults.add({ on: { ...ON, verb: 'create' }, disconnect: 'before', times: 1 })
    t.equal(await create('before'), 'failed')
    t.equal(await read('before'), '404')
    server.faults.add({ on: { ...ON, verb: 'create' }, disconnect: 'after', times: 1 })
    t.equal(await create('after'), 'failed')
    t.equal(await read('after'), '5000')
    server.faults.add({ on: { ...ON, verb: 'get' }, disconnect: { bytes: 1000 }, times: 1 })
    t.match(await whole(server, `${CONFIGS}/after`), { code: 'ECONNRESET', bytes: 1000 })
    t.equal(await read('after'), '5000', 'and the next connection is sound')
  })

  t.test(`watches break after some events, are dropped, and deliver twice, over ${over}`, async t => {
    const server = await started(t, { tls })
    const { api, config } = apiOf(server)
    const seen: string[] = []
    let wanted = true
    const informer = makeInformer<V1ConfigMap>(config, CONFIGS, async () =>
      await api.listNamespacedConfigMap({ namespace: 'default' }))
    informer.on('error', () => { setTimeout(() => { if (wanted) informer.start().catch(() => {}) }, 10) })
    for (const event of ['add', 'update', 'delete'] as const) {
      informer.on(event, ({ metadata }) => { seen.push(`${event} ${metadata?.name ?? ''}`) })
    }
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise(resolve => { setTimeout(resolve, 5) })
    }
    const create = async (name: string): Promise<unknown> =>
      await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name } } })
    server.faults.add({ on: { verb: 'watch' }, disconnect: { events: 2 }, times: 1 })
    await informer.start()
    for (const name of ['a', 'b', 'c', 'd']) await create(name)
    await until(() => ['a', 'b', 'c', 'd'].every(name => seen.includes(`add ${name}`)))
    t.ok(server.exchanges.find({ verb: 'watch' }).length >= 2, 'it watched again')

    server.faults.add({ on: { verb: 'watch' }, duplicate: true })
    await until(() => server.faults.dropWatches({ resource: 'configmaps' }) > 0)
    await until(() => server.exchanges.find({ verb: 'watch' }).some(({ faults, status, ended }) =>
      faults.includes('duplicate') && status === 200 && !ended))
    await create('e')
    await create('f')
    await until(() => seen.includes('add f'))
    t.equal(seen.filter(event => event === 'add e').length, 1, 'the library tolerates duplicate events')
    wanted = false
    await informer.stop()
  })
}

t.test('a watch that delivers twice ends in order', async t => {
  const server = await started(t, { faults: [{ on: { verb: 'watch' }, duplicate: true }] })
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&timeoutSeconds=20`)
  await make(server, 'a')
  await make(server, 'b')
  t.strictSame(types(await watch.take(4)), ['ADDED a', 'ADDED a', 'ADDED b', 'ADDED b'])
  await server.clock.move('25s')
  await watch.until(() => watch.ended)
  t.equal(watch.events.length, 4)
  t.ok(watch.response.complete)
})

t.test('objects may be read from an older state: not there yet, as they were, or still there', async t => {
  const server = await started(t)
  const fault = server.faults.add({ on: { ...ON, verb: 'get' }, stale: 1 })
  const read = async (query = '', headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(`${server.url}${CONFIGS}/a${query}`, { headers })
    const text = await response.text()
    return response.status === 200
      ? /colour: *"?(\w+)"?/.exec(text.replaceAll('"', ''))?.[1] ?? text
      : String(response.status)
  }
  const put = async (colour: string): Promise<string> => (await call(server, 'PUT', `${CONFIGS}/a`, {
    metadata: { name: 'a' }, data: { colour }
  })).json['metadata'].resourceVersion as string
  const { json } = await call(server, 'POST', CONFIGS, { metadata: { name: 'a' }, data: { colour: 'red' } })
  t.strictSame([await read('?resourceVersion=0'), await read()], ['404', 'red'])
  const version = json['metadata'].resourceVersion as string
  t.equal(await read(`?resourceVersion=${version}`), 'red', 'never older than the requested version')
  const blue = await put('blue')
  for (const accept of ['application/json', 'application/yaml']) {
    t.strictSame([await read('?resourceVersion=0', { accept }), await read('', { accept })], ['red', 'blue'], accept)
  }
  t.strictSame([await read(`?resourceVersion=${version}`), await read(`?resourceVersion=${blue}`)], ['red', 'blue'])
  t.match((await call(server, 'GET', `${CONFIGS}/a?resourceVersion=0`)).json, {
    kind: 'ConfigMap', metadata: { resourceVersion: version }
  })
  t.match(
    await (await fetch(`${server.url}${CONFIGS}/a?resourceVersion=0`, { headers: { accept: TABLE } })).json(),
    { kind: 'Table', rows: [{ cells: ['a', 1] }] }
  )
  t.equal(await read('?resourceVersion=x'), '400')
  await call(server, 'DELETE', `${CONFIGS}/a`)
  t.strictSame([await read('?resourceVersion=0'), await read()], ['blue', '404'])

  fault.remove()
  t.equal(await read('?resourceVersion=0'), '404')
  server.faults.add({ on: { verb: 'get' }, stale: 1, staleReads: 'any', times: 1 })
  t.strictSame(
    [await read(), await read()], ['blue', '404'], 'if the fault demands it, where the client asks for the newest state'
  )
  t.match(server.exchanges.find({ verb: 'get' }).at(-2), { status: 200, faults: ['stale 1'] })
})

t.test('older states of objects in several versions, of custom objects and their status, of namespaces', async t => {
  const custom = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'sites.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'sites', kind: 'Site' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
        }
      ]
    }
  }
  const server = await started(t, { fixtures: custom })
  const fault = server.faults.add({ on: { verb: 'get' }, stale: 1, staleReads: 'any' })
  for (const [collection, body, kept] of [
    [
      '/apis/example.com/v1/sites', { apiVersion: 'example.com/v1', kind: 'Site' },
      '/apis/example.com/v1/sites/a/status'
    ],
    [
      '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets', { spec: { minAvailable: 1, selector: {} } },
      '/apis/policy/v1/namespaces/default/poddisruptionbudgets/a/status'
    ]
  ] as const) {
    const made = await call(server, 'POST', collection, { ...body, metadata: { name: 'a' } })
    t.equal(made.code, 201, JSON.stringify(made.json))
    t.equal((await call(server, 'GET', kept)).code, 404, kept)
    t.equal(
      (await call(server, 'PUT', `${collection}/a`, {
        ...made.json, metadata: { ...made.json['metadata'], labels: { a: 'b' } }
      })).code,
      200
    )
    t.match(await call(server, 'GET', kept), {
      code: 200, json: { kind: made.json['kind'], metadata: { resourceVersion: made.json['metadata'].resourceVersion } }
    })
  }
  const response = await fetch(`${server.url}/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets/a`)
  t.match(await response.json(), { apiVersion: 'policy/v1beta1' })
  t.match(response.headers.get('warning'), /policy\/v1beta1 PodDisruptionBudget is deprecated/)

  t.equal((await call(server, 'POST', '/api/v1/namespaces', { metadata: { name: 'web' } })).code, 201)
  fault.remove()
  server.faults.add({ on: { verb: 'get' }, stale: 1000, staleReads: 'any' })
  t.equal((await call(server, 'GET', '/api/v1/namespaces/web')).code, 404)
})

t.test('lists that accept an older version may be answered from one, others if the fault demands it', async t => {
  const server = await started(t)
  const versions: string[] = []
  for (const name of ['a', 'b', 'c']) versions.push((await make(server, name)).json['metadata'].resourceVersion)
  const fault = server.faults.add({ on: { ...ON, verb: 'list' }, stale: 2 })
  const names = async (query: string): Promise<string[]> => ((await call(
    server, 'GET', CONFIGS + query
  )).json['items'] as Json[]).map(({ metadata }) => metadata.name as string)
  t.strictSame(await names('?resourceVersion=0'), ['a'])
  t.strictSame(await names(''), ['a', 'b', 'c'])
  t.strictSame(await names(`?resourceVersion=${versions[2]}`), ['a', 'b', 'c'])
  t.strictSame(await names(`?resourceVersion=${versions[1]}&resourceVersionMatch=NotOlderThan`), ['a', 'b'])
  fault.remove()
  server.faults.add({ on: { ...ON, verb: 'list' }, stale: 1, staleReads: 'any' })
  t.strictSame(await names(''), ['a', 'b'])
  t.strictSame(await names(`?resourceVersion=${versions[2]}&resourceVersionMatch=Exact`), ['a', 'b', 'c'])
  server.faults.clear()
  t.strictSame(await names(''), ['a', 'b', 'c'], 'other requests without a query are as before')
  const other = await started(t)
  t.equal((await call(other, 'GET', CONFIGS)).code, 200, 'those of other servers of the process too')
})
