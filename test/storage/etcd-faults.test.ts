import t from 'tap'
import { setTimeout as pass } from 'node:timers/promises'
import { openBackend } from '../../storage/open.js'
import { isStorageError } from '../../storage/errors.js'
import { writeThroughTrouble } from '../contracts/faults.js'
import { randomOperations } from '../contracts/backend.js'
import { Observed } from '../contracts/observed.js'
import { Line, startEtcd, startEtcdCluster } from '../etcd-process.js'
import { ownTime } from '../own-time.js'

// The pauses below prolong the trouble; no result is waited for by the clock.

t.test('while its process is killed and restarted, reported outcomes are true and watches continue', async t => {
  const etcd = await startEtcd(t)
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => backend.close())
  await writeThroughTrouble(t, backend, async () =>
    await openBackend({ kind: 'etcd', servers: [etcd.url] }), async () => {
    for (let round = 0; round < 3; round++) {
      await pass(300)
      await etcd.kill()
      await etcd.start()
    }
    await pass(300)
  })
  await t.test('and random operations still agree with the model', async t => await randomOperations(t, backend, 500))
})

t.test(
  'in a cluster of three that loses its members in turn, reported outcomes are true and watches continue', async t => {
    const members = await startEtcdCluster(t, 3)
    const servers = members.map(member => member.url)
    const backend = await openBackend({ kind: 'etcd', servers })
    t.teardown(() => backend.close())
    await writeThroughTrouble(t, backend, async () => await openBackend({ kind: 'etcd', servers }), async () => {
      for (const member of members) {
        await pass(400)
        await member.kill()
        await pass(400)
        await member.start()
      }
      for (const member of members) {
        await pass(200)
        member.pause()
        await pass(700)
        member.resume()
      }
      await pass(500)
    })
  }
)

t.test('behind a line that is cut, refused and stalled, reported outcomes are true and watches continue', async t => {
  const etcd = await startEtcd(t)
  const line = await Line.to(t, etcd.port)
  const backend = await openBackend({ kind: 'etcd', servers: [`http://127.0.0.1:${line.port}`] })
  t.teardown(() => backend.close())
  await writeThroughTrouble(t, backend, async () =>
    await openBackend({ kind: 'etcd', servers: [etcd.url] }), async () => {
    for (let round = 0; round < 8; round++) {
      await pass(120)
      line.cut()
    }
    line.refuse(true)
    await pass(200)
    line.refuse(false)
    await pass(200)
    line.stall(true)
    await pass(200)
    line.stall(false)
    await pass(200)
  })
})

t.test(
  'when it can not be reached, every call ends in time with Unavailable, and it serves again afterwards', async t => {
    const etcd = await startEtcd(t)
    const line = await Line.to(t, etcd.port)
    const backend = await openBackend({
      kind: 'etcd', servers: [`http://127.0.0.1:${line.port}`], healthcheckTimeout: 300
    })
    t.teardown(() => backend.close())
    const watch = new Observed(backend, '/a', '/b', await backend.revision())
    line.refuse(true)
    const began = ownTime()
    await t.rejects(backend.status(), { name: 'StorageError', code: 'Unavailable' })
    await t.rejects(backend.create('/a', Buffer.from('x')), { name: 'StorageError', code: 'Unavailable' })
    t.ok(ownTime() - began < 8_000)
    line.refuse(false)
    const created = await backend.create('/a', Buffer.from('y'))
    t.ok(created.succeeded)
    await watch.upTo(created.revision)
    t.equal(watch.events.length, 1)
    t.ok((await backend.status()).size > 0)
  }
)

t.test('a dead server among several costs nothing but a detour', async t => {
  const etcd = await startEtcd(t)
  const line = await Line.to(t, etcd.port)
  line.refuse(true)
  for (const servers of [[`http://127.0.0.1:${line.port}`, etcd.url], [etcd.url, `http://127.0.0.1:${line.port}`]]) {
    const backend = await openBackend({ kind: 'etcd', servers })
    const watch = new Observed(backend, '/a', '/b', 1)
    for (let i = 0; i < 5; i++) {
      const result = await backend.create(`/a${servers.indexOf(etcd.url)}${i}`, Buffer.from('x'))
      t.ok(result.succeeded)
      await watch.upTo(result.revision)
    }
    t.same(watch.faults, [])
    await backend.close()
  }
})

t.test('a compaction while the line is cut ends watches that lost something, with the reason', async t => {
  const etcd = await startEtcd(t)
  const line = await Line.to(t, etcd.port)
  const backend = await openBackend({ kind: 'etcd', servers: [`http://127.0.0.1:${line.port}`] })
  const other = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(async () => { await backend.close(); await other.close() })
  const begin = await backend.revision()
  const watch = new Observed(backend, '/a', '/b', begin)
  const first = await backend.create('/a', Buffer.from('0'))
  await watch.upTo(first.revision)
  line.refuse(true)
  let revision = first.revision
  for (let i = 1; i < 5; i++) revision = (await other.update('/a', Buffer.from(String(i)), revision)).revision
  await other.compact(revision)
  line.refuse(false)
  const end = await watch.ended()
  t.ok(isStorageError(end, 'Compacted'))
  t.equal(watch.events.length, 1)
  t.equal(backend.compactedRevision(), revision)
  const again = new Observed(backend, '/a', '/b', revision)
  const last = await backend.update('/a', Buffer.from('last'), revision)
  await again.upTo(last.revision)
  t.equal(again.events.length, 1)
})

t.test('a watch from after a compaction that another server made works, although this one was long away', async t => {
  const etcd = await startEtcd(t)
  const away = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  const busy = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(async () => { await away.close(); await busy.close() })
  await away.revision()
  const revisions: number[] = []
  for (let i = 0; i < 50; i++) revisions.push((await busy.create(`/a/${i}`, Buffer.from('x'))).revision)
  await busy.compact(revisions[40] ?? 0)
  const watch = new Observed(away, '/a', '/b', revisions[45] ?? 0)
  const lost = new Observed(away, '/a', '/b', revisions[39] ?? 0)
  await watch.upTo(revisions[49] ?? 0)
  t.same(watch.events.map(event => event.kv.modRevision), revisions.slice(46))
  t.equal((await lost.ended()).code, 'Compacted')
  t.equal(away.compactedRevision(), revisions[40])
})

t.test('a watch from far back joins without a gap or a repeat', async t => {
  const etcd = await startEtcd(t)
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => backend.close())
  const begin = await backend.revision()
  const newest = new Observed(backend, '/a', '/b', begin)
  const revisions: number[] = []
  for (let group = 0; group < 60; group++) {
    const results = await Promise.all(Array.from(
      { length: 100 }, (_, i) => backend.create(`/a/${group}/${i}`, Buffer.from('x'))
    ))
    revisions.push(...results.map(result => result.revision))
  }
  revisions.sort((a, b) => a - b)
  const watches = [0, 10, 1000, 3000, 5990].map(from => ({
    from, watch: new Observed(backend, '/a', '/b', revisions[from] ?? 0)
  }))
  const last = await backend.create('/a/last', Buffer.from('x'))
  revisions.push(last.revision)
  await newest.upTo(last.revision)
  t.same(newest.events.map(event => event.kv.modRevision), revisions)
  for (const { from, watch } of watches) {
    await watch.upTo(last.revision)
    t.same(watch.events.map(event => event.kv.modRevision), revisions.slice(from + 1))
    t.same(watch.faults, [])
  }
})

t.test('a list of many items is whole and of one state', async t => {
  const etcd = await startEtcd(t)
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => backend.close())
  for (let group = 0; group < 13; group++) {
    await Promise.all(Array.from(
      { length: 100 }, (_, i) => backend.create(`/a/${String(group * 100 + i).padStart(5, '0')}`, Buffer.from('x'))
    ))
  }
  const listing = backend.list({ start: '/a/', end: '/a0' })
  const late = await backend.create('/a/99999', Buffer.from('late'))
  const { kvs, revision, count, more } = await listing
  const wanted = revision >= late.revision ? 1301 : 1300
  t.same([kvs.length, count, more], [wanted, wanted, false])
  t.same(kvs.map(kv => kv.key), kvs.map(kv => kv.key).sort())
  const most = await backend.list({ start: '/a/', end: '/a0', limit: 700, revision })
  t.same([most.kvs.length, most.count, most.more], [700, wanted, true])
})

t.test('servers that make no sense are refused by name', async t => {
  for (const servers of [[], ['http://a:1', 'https://b:2'], ['not a server']]) {
    await t.rejects(openBackend({ kind: 'etcd', servers }), TypeError)
  }
})
