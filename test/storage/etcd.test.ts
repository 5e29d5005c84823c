import t from 'tap'
import { openBackend } from '../../storage/open.js'
import { backendContract } from '../contracts/backend.js'
import { startEtcd } from '../etcd-process.js'

const etcd = await startEtcd(t)

await backendContract(t, { open: async () => await openBackend({ kind: 'etcd', servers: [etcd.url] }) })

t.test('a value larger than etcd takes is refused as such, not as a failure to try again', async t => {
  const etcd = await startEtcd(t)
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => backend.close())
  t.match(await backend.create('/registry/large/fits', Buffer.alloc(1_400_000, 'x')), { succeeded: true })
  await t.rejects(backend.create('/registry/large/not', Buffer.alloc(1_700_000, 'x')), { code: 'TooLarge' })
  t.equal((await backend.get('/registry/large/not')).kv, undefined)
})
