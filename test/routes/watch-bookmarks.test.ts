/** When bookmarks are sent and what they contain; the test controls the time. */
import t, { type Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from '../fastify.js'
import { server as orch, type ServerOptions } from '../../app.js'
import { openWatches } from '../../answers/watch/turns.js'
import { BINDINGS, binding, client, TABLE, Watch, type Client, type Json } from '../build.js'
import { startEtcd } from '../etcd-process.js'
import { HeldTime } from '../answers/watch/held-time.js'
import { loadedServer } from '../../plugins/shared/plugin.js'
import { polled } from '../polled.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'

async function serve (t: Test, options: ServerOptions = {}): Promise<Client & { url: string, time: HeldTime }> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  t.teardown(() => app.close())
  const time = new HeldTime()
  await app.register(async scope => {
    await orch(scope, options)
    openWatches(loadedServer(scope).orchShutdown.signal, time)
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const made = client(app)
  await polled(async () => (await made.get('/readyz')).code === 200)
  return { ...made, url, time }
}

const bookmarks = (watch: Watch): Json[] =>
  watch.events.filter(({ type }) => type === 'BOOKMARK').map(({ object }) => object)

/** Advances the time by a minute, and waits for its bookmark. */
async function minute (watch: Watch, time: HeldTime): Promise<Json> {
  const before = bookmarks(watch).length
  time.pass(61_500)
  await watch.until(() => bookmarks(watch).length > before)
  return bookmarks(watch).at(-1) ?? {}
}

const stores: ReadonlyArray<readonly [string, (t: Test) => Promise<ServerOptions>]> = [
  ['in memory', async () => ({})],
  ['over etcd', async t => ({ storage: { kind: 'etcd', servers: [(await startEtcd(t)).url] } })]
]
for (const [name, options] of stores) {
  t.test(`${name}: each minute a bookmark as new as the store, though nothing concerns the watch`, async t => {
    const server = await serve(t, await options(t))
    const { resourceVersion } = (await server.get(CONFIGS)).json.metadata
    for (const query of ['', '&labelSelector=no%3Dmatch', '&fieldSelector=metadata.name%3Dnobody']) {
      const watch = await Watch.open(
        t, `${server.url}${CONFIGS}?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}${query}`
      )
      for (const round of [1, 2]) {
        const made = await server.post(BINDINGS, binding(`b-${query.length}-${round}`))
        const bookmark = await minute(watch, server.time)
        t.same(bookmark, {
          kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: bookmark.metadata.resourceVersion }
        })
        t.ok(
          Number(bookmark.metadata.resourceVersion) >= Number(made.json.metadata.resourceVersion),
          'at least as new as a write to another resource'
        )
      }
      t.equal(watch.events.length, 2, 'and no more than one a minute')
      watch.close()
    }
  })
}

t.test('a watch that begins with the state has its bookmarks behind it', async t => {
  const server = await serve(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  const watch = await Watch.open(t, `${server.url}${CONFIGS}?watch=1&allowWatchBookmarks=true`)
  await minute(watch, server.time)
  t.same(watch.events.map(({ type }) => type), ['ADDED', 'BOOKMARK'])
})

t.test('a bookmark of a Table is the row of an object that has a version alone', async t => {
  const server = await serve(t)
  const { resourceVersion } = (await server.get(CONFIGS)).json.metadata
  const cells = ['', 0, '<unknown>']
  const cases: ReadonlyArray<readonly [string, object | undefined]> = [
    ['', { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1' }],
    ['&includeObject=Object', { kind: 'ConfigMap', apiVersion: 'v1' }],
    ['&includeObject=None', undefined]
  ]
  for (const [query, types] of cases) {
    const watch = await Watch.open(
      t, `${server.url}${CONFIGS}?watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}${query}`,
      { accept: TABLE }
    )
    const { metadata, ...bookmark } = await minute(watch, server.time)
    t.ok(Number(metadata.resourceVersion) >= Number(resourceVersion))
    t.same(
      bookmark,
      {
        kind: 'Table',
        apiVersion: 'meta.orch.io/v1',
        columnDefinitions: null,
        rows: [{ cells, object: types === undefined ? null : { ...types, metadata } }]
      },
      query
    )
    watch.close()
  }
})

t.test('a watch sends a bookmark shortly before its timeout, and at its end if the version has advanced', async t => {
  const server = await serve(t)
  const { resourceVersion } = (await server.get(CONFIGS)).json.metadata
  const open = (query: string) =>
    Watch.open(t, `${server.url}${CONFIGS}?watch=1&timeoutSeconds=40&resourceVersion=${resourceVersion}${query}`)
  const watch = await open('&allowWatchBookmarks=true')
  const without = await open('')
  server.time.pass(37_500)
  await sleep(20)
  t.equal(watch.events.length, 0)
  server.time.pass(1500)
  await watch.until(() => watch.events.length > 0)
  const made = await server.post(BINDINGS, binding('since'))
  t.notOk(watch.ended)
  server.time.pass(2000)
  await watch.end()
  t.ok(watch.response.complete, 'a clean end')
  const [first, last] = bookmarks(watch)
  t.ok(Number(first?.metadata.resourceVersion) >= Number(resourceVersion))
  t.equal(last?.metadata.resourceVersion, made.json.metadata.resourceVersion)
  await without.end()
  t.ok(without.response.complete)
  t.equal(without.events.length, 0, 'and no bookmark unless requested')
})

t.test('without a time of its own a watch lasts one to two of the minimum', async t => {
  const server = await serve(t, { limits: { minRequestTimeoutSeconds: 100 } })
  const watches = await Promise.all(Array.from({ length: 20 }, () => Watch.open(t, `${server.url}${CONFIGS}?watch=1`)))
  server.time.pass(99_000)
  await sleep(50)
  t.ok(watches.every(({ ended }) => !ended))
  server.time.pass(103_000)
  await Promise.all(watches.map(watch => watch.end()))
  t.ok(watches.every(({ response }) => response.complete))
})
