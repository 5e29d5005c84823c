import t from 'tap'
import { openBackend } from '../../storage/open.js'
import { backendContract } from '../contracts/backend.js'

await backendContract(t, { open: async () => await openBackend({ kind: 'memory' }) })
