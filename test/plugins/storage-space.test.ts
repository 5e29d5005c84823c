import t from 'tap'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { binding, BINDINGS, build, client } from '../build.js'
import { until } from '../interop/server.js'

t.test('with a nearly full disk writes are refused, readiness fails with a log entry, ' +
  'and all else is served', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-full-'))
  t.teardown(() => { rmSync(directory, { recursive: true, force: true }) })
  const before = await build(t, { storage: { kind: 'embedded', directory } })
  t.equal((await before.post(BINDINGS, binding('one'))).code, 201)
  t.equal((await before.post(BINDINGS, binding('two'))).code, 201)
  t.equal((await before.post(BINDINGS, binding('held', { metadata: { finalizers: ['example.com/hold'] } }))).code, 201)
  t.equal((await before.get('/readyz/storage-space')).code, 200)
  await before.app.close()

  const { bavail, bsize } = statfsSync(directory)
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: line => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(orch, { storage: { kind: 'embedded', directory, minFree: bavail * bsize * 2 } })
  await app.ready()
  const server = client(app)
  t.equal((await server.get(`${BINDINGS}/one`)).code, 200)
  t.match(await server.get('/readyz'), { code: 500, body: /\[-\]storage-space failed: reason withheld\n/ })
  // livez passes after the start: a restart would also stop what still works.
  await until('the server to be alive', async () => (await server.get('/livez')).code === 200)
  t.match(lines.filter(line => line.includes('storage-space')), [
    /disk of the directory .* is nearly full: [\d.]+ MiB are free/
  ])
  for (const answer of [
    await server.post(BINDINGS, binding('three')),
    await server.put(`${BINDINGS}/one`, binding('one', { metadata: { labels: { a: 'b' } } }))
  ]) {
    t.match(answer, { code: 503, json: { kind: 'Status', reason: 'ServiceUnavailable', message: /nearly full/ } })
    t.equal(answer.headers['retry-after'], undefined)
  }
  t.equal((await server.delete(`${BINDINGS}/one`)).code, 200)
  t.match(await server.delete(`${BINDINGS}/held`), { code: 202 })
  t.equal(
    (await server.patch(`${BINDINGS}/held`, { metadata: { finalizers: null } })).code, 200,
    'finalizers can still be removed'
  )
  t.match((await server.get(BINDINGS)).json, { items: [{ metadata: { name: 'two' } }] })
})

t.test('a store that cannot run out of room has no such check failing', async t => {
  const server = await build(t)
  t.match(await server.get('/readyz?verbose'), { code: 200, body: /\[\+\]storage-space ok/ })
})
