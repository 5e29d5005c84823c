/** The transaction of a write with the store: what all have in common, and that of a change. */
import type { Stage } from './run.js'
import { present, type Write } from './write.js'
import type { ChangeWrite, StoredWrite } from './writes.js'

export const SPAN = 'Store transaction'
const DELETING = { deleting: true }

/** The lease of an object that expires. */
export const LEASE: Stage<StoredWrite> = {
  name: 'lease',
  when: ({ store, encoded }) => store.leases !== undefined && encoded !== undefined,
  run: async write => {
    const { leases } = write.store
    if (leases !== undefined) write.lease = { lease: await leases.current() }
  }
}

export const STORE_CHANGE: Stage<ChangeWrite> = {
  name: 'store',
  span: SPAN,
  fields: ({ removes }) => ({ operation: removes ? 'delete' : 'update' }),
  when: ({ dryRun, result }) => !dryRun && result === undefined,
  run: async write => {
    const { store: { backend, cache }, object, base: { key, revision }, lease } = write
    if (write.removes) write.outcome = await backend.delete(key, revision)
    else {
      const options = object.metadata.deletionTimestamp === undefined ? lease : { ...lease, ...DELETING }
      const encoded = present(write.encoded, 'encoded object')
      cache?.expectWrite(key, encoded)
      write.outcome = await backend.update(key, encoded.value, revision, options)
    }
    await acknowledge(write)
  }
}

/** After the transaction: if it succeeded, waits for the commit listeners. */
export async function acknowledge (write: Write): Promise<void> {
  if (write.outcome?.succeeded !== true) return
  write.isStored = true
  await write.store.acknowledge(write.outcome.revision)
}
