/**
 * What an object has that no other may have, such as the address of a service: taken before the object is validated and written, so
 * that what it can't have is told first and alone, as by convention; given back when it was not written, or when it no longer has it.
 * The two steps are not one: where this process ends between them something stays taken that nobody has, which whoever repairs it finds.
 */
import type { ApiObject } from '../../schemas/index.js'
import { isStorageError } from '../../storage/errors.js'

export interface Allocated {
  /** The object was written: what the one before it had and it has not is given back. Never rejects. */
  readonly commit: () => Promise<void>
  /** It was not: what was taken for it is given back, and the object is as it was. Never rejects. */
  readonly revert: () => Promise<void>
}

export interface Allocation {
  /**
   * Takes what the object is to have, sets it in the object and checks what it names; under dry run nothing is taken. The object
   * has not been validated.
   * @param old what it replaces, undefined for a new one
   * @throws StatusError 422 for what it can't have, 500 when nothing is left; StorageError
   */
  readonly allocate: (object: ApiObject, old: ApiObject | undefined, dryRun: boolean) => Promise<Allocated>
  /** The object has been removed. Never rejects. */
  readonly release: (object: ApiObject) => Promise<void>
}

/** Validates and writes the object, which has taken what it is to have. @param isWritten whether that came to a write, or would have */
export async function allocating<T> ({ allocation }: { readonly allocation: Allocation | undefined }, object: ApiObject, old: ApiObject | undefined, dryRun: boolean, write: () => Promise<T>, isWritten: (result: T) => boolean): Promise<T> {
  if (allocation === undefined) return await write()
  const { commit, revert } = await allocation.allocate(object, old, dryRun)
  let result: T
  try {
    result = await write()
  } catch (error) {
    // It may be there after all, and would have what others were given.
    if (!isStorageError(error, 'UnknownOutcome')) await revert()
    throw error
  }
  await (isWritten(result) ? commit() : revert())
  return result
}
