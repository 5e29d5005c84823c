import t from 'tap'
import { openBackend } from '../../storage/open.js'
import { backendContract } from '../contracts/backend.js'
import { Observed } from '../contracts/observed.js'
import { startEtcd } from '../etcd-process.js'

const etcd = await startEtcd(t)

await backendContract(t, { open: async () => await openBackend({ kind: 'etcd', servers: [etcd.url] }) })

t.test('answers of many megabytes come whole: lists, and what a watch catches up with', async t => {
  const etcd = await startEtcd(t)
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => backend.close())
  const before = await backend.revision()
  const keys = Array.from({ length: 16 }, (_, at) => `/registry/large/${String(at).padStart(2, '0')}`)
  for (const key of keys) await backend.create(key, Buffer.alloc(1_000_000, key))
  const { kvs } = await backend.list({ start: '/registry/large/', end: '/registry/large0' })
  t.same(
    kvs.map(({ key, value }) => [key, value.length, Buffer.from(value).subarray(0, key.length).toString()]),
    keys.map(key => [key, 1_000_000, key])
  )

  // A back end that has not learned of any of it yet.
  const other = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => other.close())
  const observed = new Observed(other, '/registry/large/', '/registry/large0', before)
  await observed.upTo(await backend.revision())
  t.same(observed.events.map(({ kv }) => [kv.key, kv.value.length]), keys.map(key => [key, 1_000_000]))
  t.same(observed.faults, [])
})

t.test('a value larger than etcd takes is refused as such, not as a failure to try again', async t => {
  const etcd = await startEtcd(t)
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => backend.close())
  t.match(await backend.create('/registry/large/fits', Buffer.alloc(1_400_000, 'x')), { succeeded: true })
  await t.rejects(backend.create('/registry/large/not', Buffer.alloc(1_700_000, 'x')), { code: 'TooLarge' })
  t.equal((await backend.get('/registry/large/not')).kv, undefined)
})
