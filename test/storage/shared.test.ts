import t from 'tap'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openBackend } from '../../storage/open.js'
import { serveStore } from '../../storage/shared/server.js'
import { backendContract } from '../contracts/backend.js'

const root = await mkdtemp(path.join(tmpdir(), 'orch-shared-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

let stores = 0
/** Handles of two processes on one store would behave alike, so each handle of the suite has a store of its own. */
await backendContract(t, {
  open: async () => {
    const directory = path.join(root, `store-${++stores}`)
    const store = await openBackend({ kind: 'embedded', directory })
    const server = await serveStore(store, directory, error => { throw error })
    const backend = await openBackend({ kind: 'shared', directory })
    const close = backend.close.bind(backend)
    t.teardown(async () => {
      await close()
      await server.close()
      await store.close()
    })
    return backend
  }
})
