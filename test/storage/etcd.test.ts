import t from 'tap'
import { openBackend } from '../../storage/open.js'
import { backendContract } from '../contracts/backend.js'
import { startEtcd } from '../etcd-process.js'

const etcd = await startEtcd(t)

await backendContract(t, { open: async () => await openBackend({ kind: 'etcd', servers: [etcd.url] }) })
