/**
 * Creates a key only while the precondition of its admission holds.
 *
 * Within one store, both are compared in a single transaction. Across stores, the precondition is checked again after
 * the create, and the key is deleted if it no longer holds, so an acknowledged create still precedes any change of the
 * precondition. The key is visible for a moment, though, and stays if the process ends or the stores are unreachable;
 * the outcome is then unknown.
 */
import type { Precondition } from '../admission.js'
import type { Backend, Revision, WriteOptions, WriteResult } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import { unwrap } from '../../storage/wrapped.js'

/** How often a compensating delete is retried. */
const MAX_ATTEMPTS = 20

/** Arguments of `Backend.create`. */
export interface NewValue {
  readonly key: string
  readonly value: Uint8Array
  readonly options?: WriteOptions | undefined
}

/** As `Backend.create`; fails with `current` undefined when the precondition has changed. */
export function createOn (
  basis: Precondition | undefined, backend: Backend, { key, value, options }: NewValue
): Promise<WriteResult> {
  if (basis === undefined) return backend.create(key, value, options)
  const isSameStore = unwrap(basis.backend) === unwrap(backend)
  if (isSameStore) return backend.create(key, value, { ...options, guard: basis })
  return createApart(basis, backend, { key, value, options })
}

async function createApart (
  basis: Precondition, backend: Backend, { key, value, options }: NewValue
): Promise<WriteResult> {
  const result = await backend.create(key, value, options)
  if (!result.succeeded) return result
  try {
    return await basis.holds()
      ? result
      : { succeeded: false, revision: await undo(backend, key, result.revision), current: undefined }
  } catch (cause) {
    throw new StorageError(
      'UnknownOutcome',
      `${key} was created, but whether what it was admitted by still stood could not be found out, or it could not ` +
        'be taken back',
      { key, cause }
    )
  }
}

/** Deletes the key with all later changes; the create was never acknowledged. */
async function undo (backend: Backend, key: string, created: Revision): Promise<Revision> {
  let expected = created
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const result = await backend.delete(key, expected)
    if (result.succeeded || result.current?.createRevision !== created) return result.revision
    expected = result.current.modRevision
  }
  throw new StorageError('Unavailable', `${key} is changed faster than it can be removed`, { key })
}
