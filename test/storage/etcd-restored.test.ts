/** An etcd whose revisions have an offset, as after a restore, is a back end like any other. */
import t from 'tap'
import type { Backend } from '../../storage/backend.js'
import { openWriter } from '../../storage/transfer/open.js'
import { openStores } from '../../storage/open.js'
import { backendContract, SOME_OPERATIONS } from '../contracts/backend.js'
import { startEtcd } from '../etcd-process.js'

const prefix = '/restored'
const etcd = await startEtcd(t)
const target = await openWriter(
  { kind: 'etcd', servers: [etcd.url], prefix },
  {
    source: 'etcd',
    revision: 5,
    takenAt: Date.now(),
    prefix,
    count: 0,
    objects: async function * () {},
    unchanged: async () => {},
    close: async () => {}
  }
)
const restored = await target.finish()

const open = async (): Promise<Backend> => {
  const stores = await openStores({ kind: 'etcd', servers: [etcd.url] }, { prefix, note: () => {}, refused: () => {} })
  t.teardown(stores.close)
  return stores.of('', 'configmaps')
}

t.test('its revisions go on from those of the restore', async t => {
  t.ok(restored > 1_000_000_000)
  t.ok(await (await open()).revision() >= restored)
})

await backendContract(t, { prefix, open, operations: SOME_OPERATIONS })
