/**
 * The read-modify-write loop of PUT, PATCH and DELETE: from what is there one attempt makes what shall be and
 * writes it if nobody wrote meanwhile; else the next attempt begins with what stands there now. The verbs
 * differ in their attempt, which is admitted and validated each time; all else is here.
 *
 * Where asking for the newest state costs a call, the first attempt begins with what the cache has: a write that
 * compares the version can't succeed on anything else than the newest. Whatever else it comes to is only believed
 * when what it began with proves to be the newest.
 */
import { forgetEmpty } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { isStatusError, notFound, timeout } from '../../schemas/status.js'
import type { WriteResult } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { holdWritten } from '../../storage/cache/written.js'
import type { ResourceStore } from '../resource-store.js'
import { isLarge } from '../../storage/turns.js'
import type { Target, WriteContext } from './context.js'
import { offer } from './create.js'
import { storable } from './storable.js'
import { transact } from './transact.js'

/** What one attempt came to. `instead` stood in its way, undefined where the object is gone. */
export type Outcome<T> =
  | { readonly done: T, /** Nothing was written, so the store has not confirmed that the attempt began with the newest. */ readonly unwritten: boolean }
  | { readonly instead: Entry | undefined }

/** What stands under the key, from the cache where that is sure to be the newest. */
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
 * Attempts until one is done.
 * @param gone what it comes to when there is nothing (any more); throws 404 where that is not said
 * @throws StatusError 504 when the request ends before an attempt is done; whatever an attempt throws
 */
export async function rewrite<T, G = never> (store: ResourceStore, target: Target, context: WriteContext, attempt: (base: Entry) => Promise<Outcome<T>>, gone: () => G = () => { throw notFound(store.resource, target.name) }): Promise<T | G> {
  const key = store.key(target.namespace, target.name)
  let base = store.cache?.loaded === true && !context.dryRun ? store.cache.get(key) : undefined
  let sure = base === undefined || store.backend.revisionNow() !== undefined
  if (base === undefined) base = await current(store, key)
  while (base !== undefined) {
    const outcome: Outcome<T> | { failure: unknown } = await attempt(base).catch((failure: unknown) => {
      if (sure || !isStatusError(failure)) throw failure
      return { failure }
    })
    if ('instead' in outcome) {
      if (context.caller.signal.aborted) throw timeout('the request ended while others kept changing the object; nothing was changed')
      base = outcome.instead
      sure = true
      continue
    }
    if ('done' in outcome && (sure || !outcome.unwritten)) return outcome.done
    const { revision }: Entry = base
    base = await current(store, key)
    sure = true
    if (base?.revision !== revision) continue
    if ('failure' in outcome) throw outcome.failure
    return outcome.done
  }
  return gone()
}

/**
 * Stores `object` in the place of `base`; under dry run, or where nothing would change, only says what would be there.
 * @param most bytes of JSON up to which bounds on stored objects do not hold: default those of `base`; a deletion is marked whatever it takes
 */
export async function replace (store: ResourceStore, base: Entry, object: ApiObject, context: WriteContext, most = base.json.length): Promise<Outcome<Entry>> {
  const { dryRun } = context
  forgetEmpty(store.stored.message, object)
  const json = store.unversioned(object)
  if (json.isOf(base.json, base.revision)) return { done: base, unwritten: true }
  if (dryRun) {
    if (isLarge(json.length)) await storable(store, object, json, most)
    return { done: store.entry(base.key, object, base.revision), unwritten: true }
  }
  const expires = store.type.ttlSeconds === undefined ? undefined : await store.expiry()
  const { value, entry } = offer(store, base.key, object, isLarge(json.length) ? await storable(store, object, json, most) : { json, value: store.encode(object) })
  const options = object.metadata.deletionTimestamp === undefined ? expires : { ...expires, ...DELETING }
  const outcome = outcomeOf(store, await transact(store, context, 'update', () => store.backend.update(base.key, value, base.revision, options)), entry)
  if ('done' in outcome) holdWritten(outcome.done, object, base)
  return outcome
}

const DELETING = { deleting: true }

/** Removes `base`, whose last state is shown as `object`. */
async function erase (store: ResourceStore, base: Entry, object: ApiObject, context: WriteContext): Promise<Outcome<Entry>> {
  const entry = (revision: number): Entry => store.entry(base.key, object, revision)
  if (context.dryRun) return { done: entry(base.revision), unwritten: true }
  return outcomeOf(store, await transact(store, context, 'delete', () => store.backend.delete(base.key, base.revision)), entry)
}

/** Removes `base`, and gives back what it had that no other may have. */
export async function eraseAllocated (store: ResourceStore, base: Entry, object: ApiObject, context: WriteContext): Promise<Outcome<Entry>> {
  const outcome = await erase(store, base, object, context)
  if (store.allocation !== undefined && 'done' in outcome && !context.dryRun) await store.allocation.release(store.readStored(base))
  return outcome
}

function outcomeOf (store: ResourceStore, result: WriteResult, entry: (revision: number) => Entry): Outcome<Entry> {
  if (result.succeeded) return { done: entry(result.revision), unwritten: false }
  return { instead: result.current === undefined ? undefined : store.decode(result.current, result.current.modRevision) }
}

/** True when nothing holds a terminating object any longer. */
export function removable (store: ResourceStore, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers } = object.metadata
  return deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds) === 0 && (finalizers ?? []).length === 0 && store.strategy.blocksRemoval?.(object) !== true
}
