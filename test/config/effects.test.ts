/**
 * Flags have their documented effect: from the arguments through the options to what a client or the disk sees. Flags
 * of the listener and of signals are in `listener.test.ts`, `tls.test.ts` and `cli.test.ts`.
 */
import t, { type Test } from 'tap'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import Fastify from '../fastify.js'
import type { FastifyInstance } from 'fastify'
import { server as orch, type ServerOptions } from '../../app.js'
import { checkedFlags, configuration } from '../../config/options.js'
import { limitForms } from '../../storage/cache/forms-budget.js'
import { openBackend } from '../../storage/open.js'
import { binding, BINDINGS, client, Watch, type Client } from '../build.js'
import { startEtcd } from '../etcd-process.js'
import { until } from '../interop/server.js'
import { loadedServer, type Whole } from '../../plugins/shared/plugin.js'
import { ownTime } from '../own-time.js'
import { polled } from '../polled.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string): object => ({ metadata: { name } })

interface Flagged extends Client { readonly scope: Whole }

let stores = 0

const folders = new WeakMap<Test, string>()

/** The folder of a test. */
function folderOf (t: Test): string {
  const folder = folders.get(t) ?? t.testdir()
  folders.set(t, folder)
  return folder
}

/** A server with these flags, in this process, over inject. */
async function serve (t: Test, flags: readonly string[], more: ServerOptions = {}): Promise<Flagged> {
  const store =
    flags.some(flag => flag.startsWith('--etcd-servers=')) ? [] : [`--data-dir=${folderOf(t)}/data-${++stores}`]
  const { options } = await configuration(checkedFlags([...store, ...flags]))
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  let scope: FastifyInstance | undefined
  await app.register(async instance => {
    scope = instance
    await orch(instance, { ...options, ...more })
  })
  await app.ready()
  const made = client(app)
  await until('the server to be ready', async () => (await made.get('/readyz')).code === 200)
  return { ...made, scope: loadedServer(scope) }
}

t.test('--delete-collection-workers limits how many objects are deleted at a time', async t => {
  for (const workers of [1, 3]) {
    let running = 0
    let most = 0
    const server = await serve(t, [`--delete-collection-workers=${workers}`], {
      admission: {
        plugins: [{
          name: 'counting',
          handles: ({ operation, resource }) => operation === 'DELETE' && resource === 'configmaps',
          validate: async () => {
            most = Math.max(most, ++running)
            await new Promise(resolve => { setImmediate(resolve) })
            running--
          }
        }]
      }
    })
    for (let at = 0; at < 12; at++) await server.post(CONFIG_MAPS, configMap(`c${at}`))
    t.equal((await server.delete(CONFIG_MAPS)).code, 200)
    t.equal(most, workers)
  }
})

t.test('--disable-admission-plugins disables a plugin', async t => {
  const nowhere = '/api/v1/namespaces/nowhere/configmaps'
  t.equal((await (await serve(t, [])).post(nowhere, configMap('a'))).code, 404)
  t.equal(
    (await (await serve(t, ['--disable-admission-plugins=NamespaceLifecycle'])).post(nowhere, configMap('a'))).code, 201
  )
})

t.test(
  '--enable-priority-and-fairness shares the sum of both limits; without it each limit applies by itself', async t => {
    const uid = 'x-orch-pf-prioritylevel-uid'
    const fair = await serve(t, ['--max-requests-inflight=0', '--max-mutating-requests-inflight=490'])
    await polled(async () => (await fair.get('/readyz')).code === 200)
    t.ok(uid in (await fair.get(BINDINGS)).headers)
    t.match(
      (await fair.get('/metrics')).body,
      'apiserver_flowcontrol_request_concurrency_limit{priority_level="workload-low"} 200\n'
    )
    for (const flag of ['--enable-priority-and-fairness=false', '--feature-gates=APIPriorityAndFairness=false']) {
      const plain = await serve(t, [flag])
      t.notOk(uid in (await plain.get(BINDINGS)).headers, flag)
      t.notMatch((await plain.get('/metrics')).body, 'apiserver_flowcontrol_request_concurrency_limit{', flag)
    }
  }
)

t.test(
  '--max-requests-inflight and --max-mutating-requests-inflight limit requests in flight without priority and fairness',
  async t => {
    for (const [flag, slow, other] of [
      ['max-requests-inflight', 'GET', 'POST'], ['max-mutating-requests-inflight', 'DELETE', 'GET']
    ] as const) {
      let release = (): void => {}
      const held = new Promise<void>(resolve => { release = resolve })
      let waiting = 0
      const server = await serve(t, ['--enable-priority-and-fairness=false', `--${flag}=2`], {
        authorization: {
          authorizers: [
            {
              name: 'slow',
              authorize: async ({ info }) => {
                if (info.name === 'slow') { waiting++; await held }
                return { decision: 'Allow' }
              }
            }
          ]
        }
      })
      const under = [1, 2].map(() => server.call(slow, `${BINDINGS}/slow`))
      await until('both to be under way', () => waiting === 2)
      t.equal((await server.call(slow, `${BINDINGS}/one`)).code, 429, flag)
      t.not(
        (await server.call(other, BINDINGS, other === 'POST' ? binding('b') : undefined)).code, 429,
        'the other kind is counted apart'
      )
      release()
      for (const answer of await Promise.all(under)) t.equal(answer.code, 404)
    }
  }
)

t.test('--external-hostname and --advertise-address are in the addresses that the server publishes', async t => {
  const address = async (...flags: string[]): Promise<unknown> =>
    (await (await serve(t, flags)).get('/api')).json['serverAddressByClientCIDRs'][0].serverAddress
  t.equal(await address('--advertise-address=192.0.2.7', '--secure-port=7443'), '192.0.2.7:7443')
  t.equal(
    await address('--advertise-address=192.0.2.7', '--external-hostname=api.example.com:443'), 'api.example.com:443'
  )
})

t.test('--runtime-config disables a version', async t => {
  const server = await serve(t, ['--runtime-config=rbac.authorization.orch.io/v1=false'])
  t.equal((await server.get(BINDINGS)).code, 404)
  t.notMatch((await server.get('/apis')).body, /rbac/)
  t.equal((await server.get(CONFIG_MAPS)).code, 200)
})

t.test('--cors-allowed-origins and --strict-transport-security-directives set headers', async t => {
  const server = await serve(t, [
    '--cors-allowed-origins=^https://ui[.]example[.]com$', '--strict-transport-security-directives=max-age=10,preload'
  ])
  const { headers } = await server.get('/version', { origin: 'https://ui.example.com' })
  t.equal(headers['access-control-allow-origin'], 'https://ui.example.com')
  t.equal(headers['strict-transport-security'], 'max-age=10; preload')
  t.equal(
    (await server.get('/version', { origin: 'https://elsewhere.example.com' })).headers['access-control-allow-origin'],
    undefined
  )
})

t.test('--default-watch-cache-size keeps at least that many changes, however old', async t => {
  const server = await serve(t, ['--default-watch-cache-size=2100'], { storage: { kind: 'memory' } })
  const cache = server.scope.orchResources.find('', 'configmaps')?.cache
  if (cache === undefined) throw new Error('there are no config maps')
  let clock = performance.now()
  // Not t.intercept, which records the call site of each of some hundred thousand calls.
  const own = Object.getOwnPropertyDescriptor(performance, 'now')
  Object.defineProperty(performance, 'now', { value: () => clock++, configurable: true, writable: true })
  t.teardown(() => {
    if (own === undefined) Reflect.deleteProperty(performance, 'now')
    else Object.defineProperty(performance, 'now', own)
  })
  await server.post(CONFIG_MAPS, configMap('a'))
  for (let at = 0; at < 2200; at++) {
    clock += 60_000
    await server.patch(`${CONFIG_MAPS}/a`, { data: { at: String(at) } })
  }
  t.equal(cache.window.end - cache.window.begin, 2100)
})

t.test(
  '--watch-cache, --default-watch-cache-size and --watch-cache-sizes set which types are cached, ' +
  'and all are served without a cache',
  async t => {
    const cases: Array<[string[], boolean, boolean]> = [
      [['--watch-cache=false'], false, false],
      [['--default-watch-cache-size=0'], false, false],
      [['--default-watch-cache-size=0', '--watch-cache-sizes=configmaps#100'], true, false],
      [['--watch-cache-sizes=clusterrolebindings.rbac.authorization.orch.io#0'], true, false],
      [['--watch-cache-sizes=configmaps#0', '--watch-cache-sizes=secrets#5000'], false, true],
      [['--watch-cache-sizes=configmaps#0', '--watch-cache-sizes=widgets.example.com#5'], false, true]
    ]
    for (const [flags, configs, bindings] of cases) {
      const server = await serve(t, flags, { storage: { kind: 'memory' } })
      t.equal(server.scope.orchResources.find('', 'configmaps')?.cache !== undefined, configs, flags.join(' '))
      t.equal(
        server.scope.orchResources.find('rbac.authorization.orch.io', 'clusterrolebindings')?.cache !== undefined,
        bindings
      )
      const { json } = await server.post(CONFIG_MAPS, configMap('a'))
      t.equal((await server.get(`${CONFIG_MAPS}/a`)).json['metadata'].uid, json['metadata'].uid)
      t.equal((await server.patch(`${CONFIG_MAPS}/a`, { data: { x: 'y' } })).code, 200)
      t.equal((await server.get('/readyz')).code, 200)
      await until('the namespaces to be made', async () =>
        (await server.get('/api/v1/namespaces')).json['items'].length >= 4)
      t.equal((await server.call('DELETE', `${CONFIG_MAPS}/a`)).code, 200)
      t.equal((await server.get(CONFIG_MAPS)).json['items'].length, 0)
    }
  }
)

t.test('--encoded-objects-cache-size is how much is kept of what clients read, as metrics say', async t => {
  t.teardown(() => { limitForms({ share: 0.25 }) })
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'
  const series = (text: string, name: string): number => {
    const line = text.split('\n').find(each => each.startsWith(`apiserver_encoded_objects_cache_${name}`) &&
      (name === 'limit_bytes' || each.includes('resource="deployments.apps",form="apps/v1 metadata"')))
    return Number(line?.split(' ').at(-1))
  }
  for (const [size, hits, misses, limit] of [['0', 0, 2, 0], ['1Mi', 1, 1, 2 ** 20]] as const) {
    const server = await serve(t, [`--encoded-objects-cache-size=${size}`], { storage: { kind: 'memory' } })
    const path = '/apis/apps/v1/namespaces/default/deployments'
    const labels = { app: 'a' }
    await server.post(path, {
      metadata: { name: 'a' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
      }
    })
    const before = (await server.get('/metrics')).body
    for (let time = 0; time < 2; time++) t.equal((await server.get(`${path}/a`, { accept })).code, 200)
    const after = (await server.get('/metrics')).body
    const grown = (name: string): number => series(after, name) - (series(before, name) || 0)
    t.same([grown('hits_total'), grown('misses_total'), series(after, 'limit_bytes')], [hits, misses, limit], size)
    t.equal(series(after, 'bytes') > 0, limit > 0)
  }
})

t.test('--etcd-compaction-interval compacts the history', async t => {
  const server = await serve(t, ['--etcd-compaction-interval=20ms'])
  const { json } = await server.post(CONFIG_MAPS, configMap('a'))
  const at = json['metadata'].resourceVersion
  await server.patch(`${CONFIG_MAPS}/a`, { data: { x: 'y' } })
  await until('the first version to be forgotten', async () =>
    (await server.get(`${CONFIG_MAPS}?resourceVersion=${at}&resourceVersionMatch=Exact`)).code === 410)
  t.equal((await server.get(CONFIG_MAPS)).json['items'].length, 1)
})

const EVENTS = '/api/v1/namespaces/default/events'
const event = (name: string): object => ({
  metadata: { name }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'web-1' }
})

t.test('--event-ttl limits the life of events and of no other objects', async t => {
  const server = await serve(t, ['--event-ttl=1s'])
  await server.post(CONFIG_MAPS, configMap('a'))
  const [began, own] = [performance.now(), ownTime()]
  t.equal((await server.post(EVENTS, event('e'))).code, 201)
  await until('the event to be gone', async () => (await server.get(`${EVENTS}/e`)).code === 404)
  const seconds = (performance.now() - began) / 1000
  t.ok(seconds > 0.98 && ownTime() - own < 15_000, `${seconds} s`)
  t.equal((await server.get(`${CONFIG_MAPS}/a`)).code, 200)
})

t.test('--lease-reuse-duration-seconds sets how long events share a lease', async t => {
  const server = await serve(t, ['--lease-reuse-duration-seconds=100'])
  const backend = server.scope.orchResources.find('', 'events')?.backend
  if (backend === undefined) throw new Error('there are no events')
  const asked: number[] = []
  const { lease } = backend
  backend.lease = async seconds => {
    asked.push(seconds)
    return await lease.call(backend, seconds)
  }
  let later = 0
  const { now } = performance
  t.intercept(performance, 'now', { value: () => now.call(performance) + later })
  for (const [at, leases] of [[0, 1], [95_000, 1], [101_000, 2]] as const) {
    later = at
    t.equal((await server.post(EVENTS, event(`e${at}`))).code, 201)
    t.equal(asked.length, leases, `${at} ms`)
  }
  t.strictSame(asked, [3700, 3700])
})

t.test('--min-request-timeout is the minimum duration of a watch, and twice that the maximum', async t => {
  const server = await serve(t, ['--min-request-timeout=1'])
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' })
  const [began, own] = [performance.now(), ownTime()]
  const watch = await Watch.open(t, `${url}${CONFIG_MAPS}?watch=1`)
  await watch.end()
  const seconds = (performance.now() - began) / 1000
  t.ok(
    seconds > 0.98 && ownTime() - own < 15_000, `${seconds} s`
  ) // between one and two, by a coarse clock on a busy machine
})

t.test(
  '--disabled-metrics, --etcd-count-metric-poll-period and --etcd-db-metric-poll-interval ' +
  'set which metrics are measured',
  async t => {
    const server = await serve(t, [
      '--etcd-count-metric-poll-period=20ms', '--etcd-db-metric-poll-interval=20ms',
      '--disabled-metrics=apiserver_request_total'
    ])
    await server.post(CONFIG_MAPS, configMap('a'))
    await until('the objects to be counted', async () =>
      /apiserver_storage_objects\{resource="configmaps"\} 1\b/.test((await server.get('/metrics')).body))
    await until('the store to be measured', async () =>
      /apiserver_storage_size_bytes\{store="embedded"\} [1-9]/.test((await server.get('/metrics')).body))
    t.notMatch((await server.get('/metrics')).body, 'apiserver_request_total')
    const never = await serve(t, ['--etcd-count-metric-poll-period=0', '--etcd-db-metric-poll-interval=0'])
    await never.post(CONFIG_MAPS, configMap('a'))
    t.match((await never.get('/metrics')).body, /apiserver_storage_objects\{resource="configmaps"\} 0\b/)
  }
)

t.test('--audit-log-*: the format, rotation size, number and compression of log files', async t => {
  const folder = folderOf(t)
  const server = await serve(t, [
    `--audit-log-path=${folder}/audit.log`, '--audit-log-format=legacy', '--audit-log-maxsize=1',
    '--audit-log-maxbackup=1', '--audit-log-maxage=1', '--audit-log-compress'
  ])
  const rotated = (): string[] => readdirSync(folder).filter(name => name.endsWith('.gz'))
  const seen = new Set<string>()
  // Each request leaves about ten kilobytes.
  while (seen.size < 2) {
    for (let at = 0; at < 20; at++) await server.get(`/version?${'x'.repeat(4000)}`)
    for (const name of rotated()) seen.add(name)
  }
  await until('the older file to be removed', () => rotated().length === 1)
  t.match(gunzipSync(readFileSync(`${folder}/${rotated()[0]}`)).toString(), /^\S+ AUDIT: id="[^\n]*\n/)
})

t.test('--etcd-servers-overrides, --etcd-prefix and --storage-media-type set the store, ' +
  'the keys and the encoding', async t => {
  const [main, other] = await Promise.all([startEtcd(t), startEtcd(t)])
  const server = await serve(t, [
    `--etcd-servers=${main.url}/`, `--etcd-servers-overrides=/secrets#${other.url};${other.url}`, '--etcd-prefix=/here',
    '--storage-media-type=application/json', '--etcd-count-metric-poll-period=20ms'
  ])
  await server.post(CONFIG_MAPS, configMap('a'))
  await server.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' }, stringData: { key: 'value' } })
  const keysOf = async (url: string) => {
    const backend = await openBackend({ kind: 'etcd', servers: [url] })
    t.teardown(() => backend.close())
    // Keys of the store itself are not objects: its format, and the progress of its watch.
    return (await backend.list({ start: '!', end: '~' })).kvs.filter(({ key }) => !key.startsWith('/here/.'))
  }
  const [mains, others] = [await keysOf(main.url), await keysOf(other.url)]
  t.ok(mains.some(({ key }) => key === '/here/configmaps/default/a'))
  t.strictSame(others.map(({ key }) => key), ['/here/secrets/default/s'])
  t.strictSame(
    [...mains, ...others].filter(({ key, value }) =>
      !key.startsWith('/here/') || value[0] !== '{'.charCodeAt(0)).map(({ key }) => key),
    []
  )
  t.match((await server.get('/readyz?verbose')).body, '[+]etcd-override-0 ok')
  await until('the secrets to be counted', async () =>
    /apiserver_storage_objects\{resource="secrets"\} 1\b/.test((await server.get('/metrics')).body))
})

t.test('--allow-metric-labels-manifest is a file of what --allow-metric-labels says, which wins', async t => {
  const file = (text: string): string => {
    const path = `${folderOf(t)}/labels-${++stores}.yaml`
    writeFileSync(path, text)
    return path
  }
  const { options } = await configuration(checkedFlags([
    `--data-dir=${folderOf(t)}/labels`, '--allow-metric-labels=a_total,verb=GET',
    `--allow-metric-labels-manifest=${file('a_total,verb: "LIST"\na_total,code: "200,429"\n')}`
  ]))
  t.strictSame(options.metrics?.allowedLabels, new Map([['a_total,verb', ['GET']], ['a_total,code', ['200', '429']]]))
  for (const [text, message] of [
    ['- a', /must be a mapping of METRIC,LABEL/], ['a_total: x', /metric,label=value/],
    ['a_total,verb: [x]', /must have a text/],
    ['a_total,verb: 1', /must have a text/]
  ] as const) {
    await t.rejects(
      configuration(checkedFlags([`--data-dir=${folderOf(t)}/labels`, `--allow-metric-labels-manifest=${file(text)}`])),
      { message }, text
    )
  }
})

t.test(
  '--debug-socket-path serves profiles and the verbosity to its owner, and replaces a socket that was left',
  async t => {
    const path = `/tmp/orch-debug-${process.pid}.sock`
    const levels: number[] = []
    const ask = (method: string, url: string, body = ''): Promise<{ code: number | undefined, text: string }> =>
      new Promise((resolve, reject) => {
        request({ socketPath: path, method, path: url, headers: { 'content-length': body.length } }, answer => {
          const parts: Buffer[] = []
          answer.on('data', (part: Buffer) => parts.push(part)).on('end', () => {
            resolve({ code: answer.statusCode, text: Buffer.concat(parts).toString() })
          })
        }).on('error', reject).end(body)
      })
    const server = await serve(t, [`--debug-socket-path=${path}`, '--authorization-mode=RBAC'], {
      profiling: { socket: path, setVerbosity: v => { levels.push(v) } }
    })
    t.equal((await server.get('/debug/pprof/')).code, 403, 'the port asks for permission')
    t.equal(statSync(path).mode & 0o777, 0o600)
    t.match(await ask('GET', '/debug/pprof/'), { code: 200, text: /CPU profile/ })
    t.match(await ask('GET', '/debug/pprof/goroutine'), { code: 200, text: /heapTotal/ })
    const since = performance.now()
    t.match(await ask('GET', '/debug/pprof/heap?seconds=1'), { code: 200 })
    t.ok(performance.now() - since >= 900, 'a profile takes as long as was asked for')
    t.match(await ask('GET', '/debug/pprof/profile?seconds=x'), { code: 400, text: /positive whole number/ })
    t.match(await ask('PUT', '/debug/flags/v', '4'), { code: 200, text: /successfully set/ })
    t.match(await ask('PUT', '/debug/flags/v', 'x'.repeat(100)), { code: 413 })
    t.strictSame(levels, [4])
    t.match(await ask('GET', '/api/v1/pods'), { code: 404 })

    const next = await serve(
      t, [`--debug-socket-path=${path}`], { profiling: { socket: path, setVerbosity: v => { levels.push(v * 10) } } }
    )
    await server.scope.close()
    t.match(
      await ask('PUT', '/debug/flags/v', '1'), { code: 200 }, 'the end of a server leaves the socket of the next one'
    )
    t.strictSame(levels, [4, 10])
    t.equal(statSync(path).mode & 0o777, 0o600)
    await next.scope.close()
    t.notOk(existsSync(path))

    const taken = `/tmp/orch-debug-${process.pid}.txt`
    t.teardown(() => { rmSync(taken, { force: true }) })
    writeFileSync(taken, '')
    await t.rejects(serve(t, [`--debug-socket-path=${taken}`]), { message: /--debug-socket-path: .* is no socket/ })
    t.equal(readFileSync(taken, 'utf8'), '')
  }
)

t.test('origins that match parts of other hosts are refused since release 1.27', async t => {
  const with_ = (...flags: string[]): Promise<unknown> =>
    configuration(checkedFlags([`--data-dir=${folderOf(t)}/origins`, ...flags]))
  await t.resolves(with_('--cors-allowed-origins=.*\\.example\\.com'))
  for (const good of ['^https://a\\.example$', '//localhost(:|$)', 'https://a.example']) {
    await t.resolves(with_('--emulated-version=1.36', `--cors-allowed-origins=${good}`), good)
  }
  for (const bad of ['example\\.com$', '//example\\.com', '.*']) {
    await t.rejects(
      with_('--emulated-version=1.36', `--cors-allowed-origins=${bad}`),
      { message: /--cors-allowed-origins=.*begin it with \^ or \/\// }, bad
    )
  }
})
