/** The contract of back ends, behind encryption on etcd. */
import t from 'tap'
import type { Backend } from '../../storage/backend.js'
import { openBackend } from '../../storage/open.js'
import { startEtcd } from '../etcd-process.js'
import { keyServiceOf } from '../key-service.js'
import { key } from './encryption/configured.js'
import { encryptedContract } from './encryption/contract.js'

const etcd = await startEtcd(t)
const open = (): Promise<Backend> => openBackend({ kind: 'etcd', servers: [etcd.url] })
const service = await keyServiceOf(t)

await t.test('secretbox', async t => { await encryptedContract(t, open, { secretbox: { keys: [key('one', 1)] } }) })
await t.test('a key service', async t => {
  await encryptedContract(t, open, { kms: { name: 'local', endpoint: service.endpoint, cachesize: 1000 } })
})
