import { withSpan } from '../trace.js'
import type { WriteResult } from '../../storage/backend.js'
import type { ResourceStore } from '../resource-store.js'
import type { WriteContext } from './context.js'

/** Runs a store transaction, then waits for the commit listeners. @throws as the back end */
export function transact (store: ResourceStore, { trace }: WriteContext, operation: 'create' | 'update' | 'delete', write: () => Promise<WriteResult>): Promise<WriteResult> {
  return withSpan(trace, 'Store transaction', async () => {
    const result = await write()
    if (result.succeeded) await store.acknowledge(result.revision)
    return result
  }, { operation })
}
