/**
 * Creating a key only while the basis of its admission stands.
 *
 * Where both are in one store they are compared in one step: what is created came before any change of the basis. Where
 * the basis is in another store that cannot be: it is looked at again once the key is there, and the key is taken back
 * when it no longer holds. Whatever is acknowledged then also came before the change. But the key is there for a
 * moment, and stays if this process ends between the two, or the stores can't be reached: the outcome is then unknown.
 */
import type { Precondition } from '../admission.js'
import type { Backend, Revision, WriteOptions, WriteResult } from '../../storage/backend.js'
import { StorageError } from '../../storage/errors.js'
import { storeOf } from '../../storage/observer.js'

/** Of taking back what others change all the while. */
const MOST_ATTEMPTS = 20

/** As `Backend.create`; refused with `current` undefined when the basis has changed. */
export function createOn (basis: Precondition | undefined, backend: Backend, key: string, value: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
  if (basis === undefined) return backend.create(key, value, options)
  return storeOf(basis.backend) === storeOf(backend) ? backend.create(key, value, { ...options, guard: basis }) : createApart(basis, backend, key, value, options)
}

async function createApart (basis: Precondition, backend: Backend, key: string, value: Uint8Array, options: WriteOptions | undefined): Promise<WriteResult> {
  const result = await backend.create(key, value, options)
  if (!result.succeeded) return result
  try {
    return await basis.holds() ? result : { succeeded: false, revision: await takeBack(backend, key, result.revision), current: undefined }
  } catch (cause) {
    throw new StorageError('UnknownOutcome', `${key} was created, but whether what it was admitted by still stood could not be found out, or it could not be taken back`, { key, cause })
  }
}

/** Removes the key in its present life, whatever was made of it meanwhile: nobody was told that it exists. */
async function takeBack (backend: Backend, key: string, created: Revision): Promise<Revision> {
  let expected = created
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const result = await backend.delete(key, expected)
    if (result.succeeded || result.current?.createRevision !== created) return result.revision
    expected = result.current.modRevision
  }
  throw new StorageError('Unavailable', `${key} is changed faster than it can be removed`, { key })
}
