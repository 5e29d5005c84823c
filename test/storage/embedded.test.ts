import t from 'tap'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openBackend } from '../../storage/open.js'
import { backendContract } from '../contracts/backend.js'

const root = await mkdtemp(path.join(tmpdir(), 'orch-embedded-'))
t.teardown(() => rm(root, { recursive: true, force: true }))

let stores = 0
await backendContract(t, {
  open: async () => await openBackend({ kind: 'embedded', directory: path.join(root, `store-${++stores}`) })
})
