/**
 * The stages of changes and deletions that know what else happens to the object meanwhile.
 *
 * If reading the newest state costs a call, the first attempt starts from the cache. A successful compare-and-put
 * proves that the cached object was current; any other outcome counts only if it was.
 */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isStatusError, notFound } from '../../schemas/status.js'
import { keepDecoded } from '../../storage/cache/recent-objects.js'
import { current } from '../current.js'
import type { ResourceStore } from '../resource-store.js'
import { toStoredForm } from './encode.js'
import { Repeat, type Stage } from './run.js'
import type { ChangeWrite } from './writes.js'

/** Reads the object from the cache if the write will prove that it is current. */
export const READ: Stage<ChangeWrite> = {
  name: 'read',
  run: write => {
    const { store, key, dryRun } = write
    write.current = store.cache?.loaded === true && !dryRun ? store.cache.get(key) : undefined
    write.isNewest = write.current === undefined || store.backend.revisionNow() !== undefined
    return write.current === undefined ? readNewest(write) : undefined
  }
}

async function readNewest (write: ChangeWrite): Promise<void> {
  write.current = await current(write.store, write.key)
  write.isNewest = true
}

/** Begins an attempt; a conflict leads back here. @throws StatusError 404 */
export const FIND: Stage<ChangeWrite> = {
  name: 'find',
  run: write => {
    if (write.current === undefined && !write.mayCreate) throw notFound(write.store.resource, write.target.name)
    write.begin()
  }
}

export const isMissing = ({ current }: ChangeWrite): boolean => current === undefined

/** Decodes the object that is replaced. */
export function decodeOld (write: ChangeWrite): void {
  const { store, current } = write
  if (current !== undefined) write.oldObject = store.entries.read(current)
}

/** Removing the last finalizer of a terminating object deletes it. */
export function decideRemoval (write: ChangeWrite): void {
  const { store, object } = write
  write.removes = removable(store, object)
  if (write.removes) toStoredForm(write)
}

/** Answers with what was written, or begins again on the object that was there instead. */
export async function concludeChange (write: ChangeWrite): Promise<void> {
  const { store, object, storedForm, base, outcome, removes, encoded } = write
  if (outcome === undefined) {
    if (removes) write.result = store.entries.of(base.key, storedForm, base.revision)
    if (!await isCurrent(write)) throw new Repeat(FIND)
  } else if (!outcome.succeeded) {
    write.current = outcome.current === undefined
      ? undefined
      : store.entries.decode(outcome.current, outcome.current.modRevision)
    write.isNewest = true
    throw new Repeat(FIND)
  } else if (removes) {
    write.result = object === write.oldObject
      ? base.at(outcome.revision)
      : store.entries.of(base.key, storedForm, outcome.revision)
  } else {
    write.result = encoded?.entry(outcome.revision)
    if (write.result !== undefined) keepDecoded(write.result, storedForm, base)
  }
}

/** A refusal counts only if it was for the newest object, or for none. */
export async function recover (write: ChangeWrite, failure: unknown): Promise<Repeat> {
  if (write.isNewest || isMissing(write) || !isStatusError(failure) || await isCurrent(write)) throw failure
  return new Repeat(FIND)
}

/** Whether the base of the attempt was the newest object, which nothing has proved yet. */
async function isCurrent (write: ChangeWrite): Promise<boolean> {
  if (write.isNewest) return true
  const { base } = write
  await readNewest(write)
  return write.current?.revision === base.revision
}

/** Whether nothing holds a terminating object any longer. */
export function removable (store: ResourceStore, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers } = object.metadata
  return deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds) === 0 &&
    (finalizers ?? []).length === 0 && store.strategy.blocksRemoval?.(object) !== true
}
