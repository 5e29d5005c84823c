/** An operator upgrades and downgrades: what a release that is too old for the store does and reports. */
import t, { type Test } from 'tap'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import orch from '../app.js'
import { openBackend } from '../storage/open.js'
import { startEtcd } from './etcd-process.js'
import Fastify from './fastify.js'
import { launch, nodeFlags, RunningServer, until } from './interop/server.js'
import { freePort } from './ports.js'

const LAUNCHER = fileURLToPath(new URL('../bundle/cli.js', import.meta.url))
const REFUSAL =
  /^orch-apiserver: --etcd-servers=\S+: the store below --etcd-prefix=\/registry is of format 2, this release reads up to format 1: start the release that wrote it, or a newer one, or name another --etcd-prefix$/

const etcd = await startEtcd(t)
const store = await openBackend({ kind: 'etcd', servers: [etcd.url] })
t.teardown(() => store.close())

const keys = async (): Promise<string[]> => (await store.list({ start: '/', end: '0' })).kvs.map(({ key }) => key)

/** Writes the format of a newer release. */
async function raise (format: string): Promise<void> {
  const { kv } = await store.get('/registry/.format')
  await (kv === undefined
    ? store.create('/registry/.format', Buffer.from(format))
    : store.update('/registry/.format', Buffer.from(format), kv.modRevision))
}

t.test('the first server marks the store, and the mark affects nothing else', async t => {
  const flags = [
    `--etcd-servers=${etcd.url}`, '--etcd-compaction-interval=200ms', '--etcd-count-metric-poll-period=50ms'
  ]
  const servers = await Promise.all([RunningServer.start(t, flags), RunningServer.start(t, flags)])
  t.match(Buffer.from((await store.get('/registry/.format')).kv?.value ?? []).toString(), '1')
  t.equal(
    servers.flatMap(({ log }) =>
      log.match(/INFO {2}the store below \/registry in etcd is marked as format 1: /g) ?? []).length,
    1
  )
  const [server] = servers
  t.equal((await server.ask('/api/v1/namespaces/default/configmaps', 'POST', { metadata: { name: 'a' } })).code, 201)
  await until('a compaction', async () => (await server.ask(
    '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&resourceVersion=1'
  )).body.includes('"code":410'))
  await until('a count', async () =>
    /^apiserver_storage_objects\{resource="configmaps"\} [1-9]/m.test((await server.ask('/metrics')).body))
  for (const each of servers) {
    t.equal((await each.ask('/readyz')).code, 200)
    t.equal(await each.stop(), 0)
    t.notMatch(each.log, /ERROR|\.format|refus/)
  }
})

/** A start that fails. @returns its lines */
async function refused (t: Test, ...flags: string[]): Promise<string[]> {
  const since = performance.now()
  const child = launch(
    process.execPath,
    [...nodeFlags(), LAUNCHER, `--secure-port=${await freePort()}`, `--cert-dir=${t.testdir()}`, ...flags],
    { stdio: ['ignore', 'ignore', 'pipe'] }
  )
  let log = ''
  child.stderr.on('data', (piece: Buffer) => { log += piece.toString() })
  const [code] = await once(child, 'close') as [number | null]
  t.equal(code, 1)
  t.ok(performance.now() - since < 60_000, 'and does not go on trying')
  return log.trimEnd().split('\n')
}

t.test('a start over a newer store ends with one line', async t => {
  await raise('2')
  const before = await store.revision()
  const lines = await refused(t, `--etcd-servers=${etcd.url}`)
  t.match(lines, [REFUSAL])
  t.equal(lines.length, 1)
  t.equal(await store.revision(), before, 'nothing was written')
})

t.test('the same holds on a disk, where an upgrade is logged too', async t => {
  const server = await RunningServer.start(t)
  t.equal(await server.stop(), 0)
  const folder = join(server.folder, 'data')
  const mark = async (format: string): Promise<void> => {
    const table = open<Uint8Array, Uint8Array>({
      path: join(folder, 'data.mdb'), noSubdir: true, encoding: 'binary', keyEncoding: 'binary'
    })
    await table.put(Buffer.from('\0format'), Buffer.from(format))
    await table.close()
  }
  await mark('orch-store 1')
  await server.start()
  t.equal((await server.ask('/api/v1/namespaces/default/configmaps', 'POST', { metadata: { name: 'a' } })).code, 201)
  await until(
    'the line',
    () =>
      /WARN {2}the store \S+ is of the format 'orch-store 2' from now on, it was 'orch-store 1': releases that know only 'orch-store 1' can read it no longer/.test(server.log)
  )
  t.equal(await server.stop(), 0)

  await mark('orch-store 3')
  const lines = await refused(t, `--data-dir=${folder}`)
  t.match(lines, [
    /^orch-apiserver: --data-dir=\S+: the directory \S+ holds a store of the format 'orch-store 3', this server reads 'orch-store 2': start the release that wrote it, or a newer one, or name another --data-dir$/
  ])
  t.equal(lines.length, 1)
  const { status, stdout } = spawnSync(
    process.execPath, [LAUNCHER, 'fsck', `--data-dir=${folder}`], { encoding: 'utf8' }
  )
  t.equal(status, 1)
  t.match(
    stdout,
    /it is of the format 'orch-store 3', this program reads 'orch-store 2': use the release that wrote it, or a newer one/
  )
})

t.test('a server that started while etcd was away ends when etcd is back', async t => {
  const before = await keys()
  await etcd.kill()
  const server = await RunningServer.start(
    t, [`--etcd-servers=${etcd.url}`, '--authorization-mode=AlwaysAllow'], '/healthz/ping'
  )
  t.not((await server.ask('/readyz')).code, 200)
  await etcd.start()
  await until('its end', async () => (await server.ask('/healthz/ping')).code === 0)
  t.equal(await server.stop(), 1)
  t.match(server.log.trimEnd().split('\n').at(-1), REFUSAL)
  t.strictSame(await keys(), before)
})

t.test('the start of a host fails, or its callback is called', async t => {
  const storage = { kind: 'etcd', servers: [etcd.url] } as const
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, { storage })
  await t.rejects(
    async () => { await app.ready() },
    { name: 'StorageError', message: /is of format 2, this release reads up to format 1/ }
  )

  const heard: string[] = []
  const told = Fastify()
  t.teardown(() => told.close())
  await told.register(orch, { storage: { ...storage, refused: ({ message }) => { heard.push(message) } } })
  await t.rejects(async () => { await told.ready() }, { message: /is of format 2/ })
  t.match(heard, [/is of format 2/])
  t.equal(heard.length, 1)

  await etcd.kill()
  const late = Fastify()
  t.teardown(() => late.close())
  await late.register(orch, { storage: { ...storage, refused: ({ message }) => { heard.push(message) } } })
  await late.ready()
  await etcd.start()
  await until('the refusal', () => heard.length > 1)
  t.equal((await late.inject('/readyz')).statusCode, 500)
  t.equal((await late.inject('/api/v1/namespaces')).statusCode, 503)
  t.equal(heard.length, 2)

  const elsewhere = Fastify()
  t.teardown(() => elsewhere.close())
  await elsewhere.register(orch, { storage: { ...storage, prefix: '/elsewhere' } })
  await elsewhere.ready()
  await until('another store', async () => (await elsewhere.inject('/readyz')).statusCode === 200)
})
