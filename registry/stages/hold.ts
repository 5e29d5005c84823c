/**
 * A create stands only if all preconditions of its admission do.
 *
 * Those in the same store are compared in the transaction of the create. Those in another one are looked at again after
 * the create, which is taken back if one no longer holds, so an acknowledged create still precedes any change of a
 * precondition. The key is visible for a moment, though, and stays if the process ends or the stores are unreachable;
 * the outcome is then unknown.
 */
import type { Precondition } from '../admission.js'
import { StorageError } from '../../storage/errors.js'
import { unwrap } from '../../storage/wrapped.js'
import { ADMIT_AGAIN } from './admit.js'
import { Repeat, type Stage } from './run.js'
import type { CreateWrite } from './writes.js'

/** The preconditions that another store has. */
export const apart = ({ preconditions, store }: CreateWrite): readonly Precondition[] =>
  preconditions.filter(({ backend }) => unwrap(backend) !== unwrap(store.backend))

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
