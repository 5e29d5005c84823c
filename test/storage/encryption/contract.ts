/** Runs the contract of back ends behind encryption. */
import type { Test } from 'tap'
import type { Backend } from '../../../storage/backend.js'
import { backendContract, SOME_OPERATIONS } from '../../contracts/backend.js'
import { encrypted, type Provider } from './configured.js'

/** Closing the back end closes its store too, because nobody else does. */
export async function encryptedContract (t: Test, open: () => Promise<Backend>, provider: Provider): Promise<void> {
  await backendContract(t, {
    operations: SOME_OPERATIONS,
    open: async () => {
      const inner = await open()
      return Object.assign(await encrypted(t, inner, [provider]), { close: () => inner.close() })
    }
  })
}
