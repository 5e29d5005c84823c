import t from 'tap'
import { startEtcd } from '../etcd-process.js'
import { race, races, registry } from './namespace-race.js'

t.test('in memory, nothing that was accepted outlives its namespace', async t => {
  const { accepted, left, failures } = await race([await registry(t, { storage: { kind: 'memory' } })], races(70))
  t.comment(`${accepted} objects`)
  t.same({ left, failures }, { left: [], failures: [] })
})

t.test('in the embedded store, nothing that was accepted outlives its namespace', async t => {
  const { accepted, left, failures } = await race(
    [await registry(t, { storage: { kind: 'embedded', directory: t.testdir() } })], races(50)
  )
  t.comment(`${accepted} objects`)
  t.same({ left, failures }, { left: [], failures: [] })
})

t.test('over etcd, with objects in a store of their own, nothing that was accepted outlives its namespace', async t => {
  const [etcd, own] = await Promise.all([startEtcd(t), startEtcd(t)])
  const options = { storage: { kind: 'etcd' as const, servers: [etcd.url], overrides: { '/configmaps': [own.url] } } }
  const { accepted, left, failures } = await race([await registry(t, options), await registry(t, options)], races(50))
  t.comment(`${accepted} objects`)
  t.same({ left, failures }, { left: [], failures: [] })
})

t.test('over etcd, with two servers, nothing that was accepted outlives its namespace', async t => {
  const etcd = await startEtcd(t)
  const servers = [
    await registry(t, { storage: { kind: 'etcd', servers: [etcd.url] } }),
    await registry(t, { storage: { kind: 'etcd', servers: [etcd.url] } })
  ]
  const { accepted, left, failures } = await race(servers, races(60))
  t.comment(`${accepted} objects`)
  t.same({ left, failures }, { left: [], failures: [] })
})
