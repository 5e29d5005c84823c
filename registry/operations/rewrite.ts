/**
 * The read-modify-write loop of PUT, PATCH and DELETE. Each attempt derives the new object from the current one, admits and validates it, and writes it with
 * the revision as precondition; on a conflict, the next attempt starts from the current object.
 *
 * If reading the newest state costs a call, the first attempt starts from the cache. A successful compare-and-put proves that the cached object was current.
 * Any other outcome counts only if the cached object was current.
 */
import { removeUnstoredEmpty, type ApiObject } from '../../schemas/index.js'
import { isStatusError, notFound, timeout } from '../../schemas/status.js'
import type { WriteResult } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { keepDecoded } from '../../storage/cache/recent-objects.js'
import type { ResourceStore } from '../resource-store.js'
import type { Target, WriteContext } from './context.js'
import { expectWrite } from './create.js'
import { encodeObject } from './object-limits.js'
import { transact } from './transact.js'

/** The outcome of one attempt. `instead` is the conflicting object, undefined if it was deleted. */
export type Outcome<T> =
  | { readonly done: T, /** Nothing was written, so the store has not confirmed that the base was current. */ readonly unwritten: boolean }
  | { readonly instead: Entry | undefined }

/** The newest object, from the cache if that is known to be current. */
export async function current (store: ResourceStore, key: string): Promise<Entry | undefined> {
  const { cache } = store
  if (cache !== undefined) {
    await cache.fresh()
    return cache.get(key)
  }
  const { kv } = await store.backend.get(key)
  return kv === undefined ? undefined : store.decode(kv, kv.modRevision)
}

/**
 * Runs attempts until one succeeds.
 * @param onMissing returns the result for a missing object; throws 404 by default
 * @throws StatusError 504 when the request ends first; any error of an attempt
 */
export async function rewrite<T, G = never> (store: ResourceStore, target: Target, context: WriteContext, attempt: (base: Entry) => Promise<Outcome<T>>, onMissing: () => G = () => { throw notFound(store.resource, target.name) }): Promise<T | G> {
  const key = store.key(target.namespace, target.name)
  let base = store.cache?.loaded === true && !context.dryRun ? store.cache.get(key) : undefined
  let isNewest = base === undefined || store.backend.revisionNow() !== undefined
  if (base === undefined) base = await current(store, key)
  while (base !== undefined) {
    const outcome: Outcome<T> | { failure: unknown } = await attempt(base).catch((failure: unknown) => {
      if (isNewest || !isStatusError(failure)) throw failure
      return { failure }
    })
    if ('instead' in outcome) {
      if (context.caller.signal.aborted) throw timeout('the request ended while others kept changing the object; nothing was changed')
      base = outcome.instead
      isNewest = true
      continue
    }
    if ('done' in outcome && (isNewest || !outcome.unwritten)) return outcome.done
    const { revision }: Entry = base
    base = await current(store, key)
    isNewest = true
    if (base?.revision !== revision) continue
    if ('failure' in outcome) throw outcome.failure
    return outcome.done
  }
  return onMissing()
}

/**
 * Replaces `base` with `object`. A dry run, or a write without changes, only returns the result.
 * @param maxBytes bytes of JSON up to which size limits do not apply: default the size of `base`. Marking a deletion has no limit
 */
export async function replace (store: ResourceStore, base: Entry, object: ApiObject, context: WriteContext, maxBytes = base.json.length): Promise<Outcome<Entry>> {
  const { dryRun } = context
  removeUnstoredEmpty(store.stored.message, object)
  const json = store.unversioned(object)
  if (json.isOf(base.json, base.revision) && (dryRun || await store.backend.outdated?.(base.key) !== true)) return { done: base, unwritten: true }
  const encoded = await encodeObject(store, object, json, maxBytes)
  if (dryRun) return { done: store.entry(base.key, object, base.revision), unwritten: true }
  const expires = store.type.ttlSeconds === undefined ? undefined : await store.expiry()
  const { value, entry } = expectWrite(store, base.key, object, encoded)
  const options = object.metadata.deletionTimestamp === undefined ? expires : { ...expires, ...DELETING }
  const outcome = outcomeOf(store, await transact(store, context, 'update', () => store.backend.update(base.key, value, base.revision, options)), entry)
  if ('done' in outcome) keepDecoded(outcome.done, object, base)
  return outcome
}

const DELETING = { deleting: true }

/** Deletes `base`; the result shows `object` as its last state. */
async function erase (store: ResourceStore, base: Entry, object: ApiObject, context: WriteContext): Promise<Outcome<Entry>> {
  const entry = (revision: number): Entry => store.entry(base.key, object, revision)
  if (context.dryRun) return { done: entry(base.revision), unwritten: true }
  return outcomeOf(store, await transact(store, context, 'delete', () => store.backend.delete(base.key, base.revision)), entry)
}

/** Deletes `base` and releases its allocations. */
export async function removeAndRelease (store: ResourceStore, base: Entry, object: ApiObject, context: WriteContext): Promise<Outcome<Entry>> {
  const outcome = await erase(store, base, object, context)
  if (store.allocation !== undefined && 'done' in outcome && !context.dryRun) await store.allocation.release(store.readStored(base))
  return outcome
}

function outcomeOf (store: ResourceStore, result: WriteResult, entry: (revision: number) => Entry): Outcome<Entry> {
  if (result.succeeded) return { done: entry(result.revision), unwritten: false }
  return { instead: result.current === undefined ? undefined : store.decode(result.current, result.current.modRevision) }
}

/** Whether nothing holds a terminating object any longer. */
export function removable (store: ResourceStore, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers } = object.metadata
  return deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds) === 0 && (finalizers ?? []).length === 0 && store.strategy.blocksRemoval?.(object) !== true
}
