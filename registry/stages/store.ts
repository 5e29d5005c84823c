/** The transaction of a write with the store. */
import { alreadyExists, noUniqueName } from '../../schemas/status.js'
import type { WriteResult } from '../../storage/backend.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT_AGAIN } from './admit.js'
import { apart, takeBack } from './hold.js'
import { NAME } from './identity.js'
import { Repeat, type Stage } from './run.js'
import type { Write } from './write.js'
import type { ChangeWrite, CreateWrite, StoredWrite } from './writes.js'

const SPAN = 'Store transaction'
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

export const STORE_NEW: Stage<CreateWrite> = {
  name: 'store',
  span: SPAN,
  fields: () => ({ operation: 'create' }),
  when: ({ dryRun }) => !dryRun,
  run: async write => {
    const { store: { backend }, key, preconditions, lease } = write
    const others = apart(write)
    const guards = preconditions.filter(precondition => !others.includes(precondition))
    await transact(write, () => backend.create(key, expect(write), { ...lease, guards }))
    if (others.length > 0) write.undo.push({ of: STORE_NEW, revert: () => takeBack(write) })
  }
}

export const STORE_CHANGE: Stage<ChangeWrite> = {
  name: 'store',
  span: SPAN,
  fields: ({ removes }) => ({ operation: removes ? 'delete' : 'update' }),
  when: ({ dryRun, result }) => !dryRun && result === undefined,
  run: write => transact(write, () => {
    const { store: { backend }, object, base: { key, revision }, lease, removes } = write
    if (removes) return backend.delete(key, revision)
    const options = object.metadata.deletionTimestamp === undefined ? lease : { ...lease, ...DELETING }
    return backend.update(key, expect(write), revision, options)
  })
}

/** Registers the write with the cache before it is sent. @returns the value to store */
function expect ({ store, key, encoded }: StoredWrite): Uint8Array {
  if (encoded === undefined) throw new TypeError('the object of a write is encoded before it is stored')
  store.cache?.expectWrite(key, encoded)
  return encoded.value
}

/** Runs the transaction, then waits for the commit listeners. @throws as the back end */
export async function transact (write: Write, send: () => Promise<WriteResult>): Promise<void> {
  const outcome = write.outcome = await send()
  if (!outcome.succeeded) return
  write.isStored = true
  await write.store.acknowledge(outcome.revision)
}

/** Attempts with another suffix when a generated name is taken. */
const MAX_NAME_ATTEMPTS = 8

/** Answers with the new object, or begins again. @throws StatusError 409 */
export async function concludeNew (write: CreateWrite): Promise<void> {
  const { store, key, kept, object: { metadata: { name = '' } }, outcome, preconditions, isGenerated } = write
  if (outcome === undefined) {
    const { kv } = await store.backend.get(key)
    if (kv === undefined) {
      write.result = store.entries.unstored(key, kept)
      return
    }
  } else if (outcome.succeeded) {
    write.result = write.encoded?.entry(outcome.revision)
    return
  } else if (preconditions.length > 0 && outcome.current === undefined) {
    throw new Repeat(ADMIT_AGAIN) // with the current state of all that it depends on
  }
  if (!isGenerated) throw alreadyExists(store.resource, name, await isTerminating(store, key))
  if (write.attempt++ === MAX_NAME_ATTEMPTS) throw noUniqueName(store.resource, name)
  throw new Repeat(NAME)
}

/** Whether the existing object is terminating, so that the name may become free. */
async function isTerminating (store: ResourceStore, key: string): Promise<boolean> {
  try {
    const { kv } = await store.backend.get(key)
    if (kv === undefined) return false
    return store.readStored(store.entries.decode(kv, kv.modRevision)).metadata.deletionTimestamp !== undefined
  } catch {
    return false // the name is taken even if the object can't be read
  }
}
