/** The write itself, which every operation comes to. */
import { during } from '../trace.js'
import type { WriteResult } from '../../storage/backend.js'
import type { ResourceStore } from '../resource-store.js'
import type { WriteContext } from './context.js'

/** Writes, and waits until those know of it who have to before it is answered. @throws as the back end */
export function transact (store: ResourceStore, { trace }: WriteContext, operation: 'create' | 'update' | 'delete', write: () => Promise<WriteResult>): Promise<WriteResult> {
  return during(trace, 'Store transaction', async () => {
    const result = await write()
    if (result.succeeded) await store.acknowledge(result.revision)
    return result
  }, { operation })
}
