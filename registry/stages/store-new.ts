/**
 * The end of a creation: its transaction with the store, and the answer.
 *
 * A create stands only if all preconditions of its admission do.
 *
 * Those in the same store are compared in the transaction of the create. Those in another one are looked at again after
 * the create, which is taken back if one no longer holds, so an acknowledged create still precedes any change of a
 * precondition. The key is visible for a moment, though, and stays if the process ends or the stores are unreachable;
 * the outcome is then unknown.
 */
import { alreadyExists, noUniqueName } from '../../schemas/status.js'
import { StorageError } from '../../storage/errors.js'
import { unwrap } from '../../storage/wrapped.js'
import type { Precondition } from '../admission.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT_AGAIN } from './admit.js'
import { NAME } from './prepare.js'
import { Repeat, type Stage } from './run.js'
import { acknowledge, SPAN } from './store.js'
import { present } from './write.js'
import type { CreateWrite } from './writes.js'

/** The preconditions that another store has. */
export const apart = ({ preconditions, store }: CreateWrite): readonly Precondition[] =>
  preconditions.filter(({ backend }) => unwrap(backend) !== unwrap(store.backend))

export const STORE_NEW: Stage<CreateWrite> = {
  name: 'store',
  span: SPAN,
  fields: () => ({ operation: 'create' }),
  when: ({ dryRun }) => !dryRun,
  run: async write => {
    const { store: { backend, cache }, key, preconditions, lease } = write
    const encoded = present(write.encoded, 'encoded object')
    const others = apart(write)
    const guards = preconditions.filter(precondition => !others.includes(precondition))
    cache?.expectWrite(key, encoded)
    write.outcome = await backend.create(key, encoded.value, { ...lease, guards })
    if (others.length > 0) write.undo.push({ of: STORE_NEW, revert: () => takeBack(write) })
    await acknowledge(write)
  }
}

export const HOLD: Stage<CreateWrite> = {
  name: 'hold',
  when: write => write.outcome?.succeeded === true && apart(write).length > 0,
  run: async write => {
    const hold = await Promise.all(apart(write).map(({ holds }) => holds()))
      .catch((cause: unknown) => { throw unknown(write, cause) })
    if (hold.includes(false)) throw new Repeat(ADMIT_AGAIN) // which takes the create back
  }
}

/** How often the delete is attempted. */
const MAX_ATTEMPTS = 20

/** Deletes what was created with all later changes; it was never acknowledged. @throws StorageError UnknownOutcome */
export async function takeBack (write: CreateWrite): Promise<void> {
  const { store: { backend }, key, outcome } = write
  if (outcome?.succeeded !== true) return
  let expected = outcome.revision
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const deletion = await backend.delete(key, expected).catch((cause: unknown) => { throw unknown(write, cause) })
    if (deletion.succeeded || deletion.current?.createRevision !== outcome.revision) {
      write.isStored = false
      return
    }
    expected = deletion.current.modRevision
  }
  throw unknown(write, new StorageError('Unavailable', `${key} is changed faster than it can be removed`, { key }))
}

const unknown = ({ key }: CreateWrite, cause: unknown): StorageError => new StorageError(
  'UnknownOutcome',
  `${key} was created, but whether what it was admitted by still stood could not be found out, or it could not be ` +
    'taken back',
  { key, cause }
)

/** Attempts with another suffix when a generated name is taken. */
const MAX_NAME_ATTEMPTS = 8

/** Answers with the new object, or begins again. @throws StatusError 409 */
export async function concludeNew (write: CreateWrite): Promise<void> {
  const { store, key, storedForm, object: { metadata: { name = '' } }, outcome, preconditions, generatedName } = write
  if (outcome === undefined) {
    const { kv } = await store.backend.get(key)
    if (kv === undefined) {
      write.result = store.entries.unstored(key, storedForm)
      return
    }
  } else if (outcome.succeeded) {
    write.result = write.encoded?.entry(outcome.revision)
    return
  } else if (preconditions.length > 0 && outcome.current === undefined) {
    throw new Repeat(ADMIT_AGAIN) // with the current state of all that it depends on
  }
  if (generatedName === undefined) throw alreadyExists(store.resource, name, await isTerminating(store, key))
  if (write.attempt++ === MAX_NAME_ATTEMPTS) throw noUniqueName(store.resource, name)
  throw new Repeat(NAME)
}

/** Whether the existing object is terminating, so that the name may become free. */
async function isTerminating (store: ResourceStore, key: string): Promise<boolean> {
  try {
    const { kv } = await store.backend.get(key)
    if (kv === undefined) return false
    return store.entries.read(store.entries.decode(kv, kv.modRevision)).metadata.deletionTimestamp !== undefined
  } catch {
    return false // the name is taken even if the object can't be read
  }
}
