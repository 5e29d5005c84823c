/** The contract of back ends, behind encryption with each kind of provider. */
import t from 'tap'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Backend } from '../../storage/backend.js'
import { openBackend } from '../../storage/open.js'
import { Observed } from '../contracts/observed.js'
import { keyServiceOf } from '../key-service.js'
import { encrypted, key, type Provider } from './encryption/configured.js'
import { encryptedContract } from './encryption/contract.js'

const root = await mkdtemp(join(tmpdir(), 'orch-encrypted-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
const service = await keyServiceOf(t)
const keyService = (cachesize: number): Provider => ({ kms: { name: 'local', endpoint: service.endpoint, cachesize } })

let stores = 0
const embedded = (): Promise<Backend> => openBackend({ kind: 'embedded', directory: join(root, `store-${++stores}`) })
const memory = (): Promise<Backend> => openBackend({ kind: 'memory' })

await t.test('aesgcm, embedded', async t => {
  await encryptedContract(t, embedded, { aesgcm: { keys: [key('one', 1)] } })
})
await t.test('aescbc, in memory', async t => {
  await encryptedContract(t, memory, { aescbc: { keys: [key('one', 1)] } })
})
await t.test('a key service, embedded', async t => { await encryptedContract(t, embedded, keyService(1000)) })

await t.test(
  'a key service that is called for each value: a watch delivers all in order, and is never behind the newest revision',
  async t => {
    const store = await memory()
    t.teardown(() => store.close())
    const backend = await encrypted(t, store, [keyService(-1)])
    const begin = await backend.revision()
    const watch = new Observed(backend, '/a/', '/a0', begin)
    const revisions = await Promise.all(Array.from({ length: 500 }, async (_, at) => {
      const result = await backend.create(`/a/${at}`, Buffer.from(String(at)))
      const now = backend.revisionNow()
      if (now !== undefined) t.ok(watch.reached >= now)
      return result.revision
    }))
    await watch.upTo(await backend.revision())
    t.same(watch.events.map(({ kv }) => kv.modRevision), revisions.sort((one, other) => one - other))
    t.same(watch.events.map(({ kv }) => kv.key), watch.events.map(({ kv }) => `/a/${Buffer.from(kv.value).toString()}`))
    t.same(watch.faults, [])
  }
)
