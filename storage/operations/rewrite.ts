/**
 * The read-modify-write loop of PUT, PATCH and DELETE: from what is there one attempt makes what shall be and
 * writes it if nobody wrote meanwhile; else the next attempt begins with what stands there now. The verbs
 * differ in their attempt, which is admitted and validated each time; all else is here.
 */
import type { ApiObject } from '../../schemas/index.js'
import { notFound, timeout } from '../../schemas/status.js'
import type { WriteResult } from '../backend.js'
import type { Entry } from '../cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { giveWay } from './context.js'
import type { Target, WriteContext } from './context.js'
import { offer } from './create.js'

/** What one attempt came to. `instead` stood in its way, undefined where the object is gone. */
export type Outcome<T> = { readonly done: T } | { readonly instead: Entry | undefined }

/** What stands under the key, from the cache where that is sure to be the newest. */
export async function current (store: ResourceStore, key: string): Promise<Entry | undefined> {
  await store.cache.fresh()
  return store.cache.snapshot.map.get(key)
}

/**
 * Attempts until one is done.
 * @param found what was the newest when it was read
 * @param gone what it comes to when there is nothing (any more); throws 404 where that is not said
 * @throws StatusError 504 when the request ends before an attempt is done; whatever an attempt throws
 */
export async function rewrite<T, G = never> (store: ResourceStore, found: Entry | undefined, target: Target, context: WriteContext, attempt: (base: Entry) => Promise<Outcome<T>>, gone: () => G = () => { throw notFound(store.resource, target.name) }): Promise<T | G> {
  for (let base = found; base !== undefined;) {
    const outcome: Outcome<T> = await attempt(base)
    if ('done' in outcome) return outcome.done
    if (context.signal.aborted) throw timeout('the request ended while others kept changing the object; nothing was changed')
    base = outcome.instead
  }
  return gone()
}

/** Stores `object` in the place of `base`; under dry run, or where nothing would change, only says what would be there. */
export async function replace (store: ResourceStore, base: Entry, object: ApiObject, { dryRun, size = 0 }: WriteContext): Promise<Outcome<Entry>> {
  const unchanged = store.json(object, base.revision) + '\n' === base.json.toString()
  if (unchanged) return { done: base }
  await giveWay(Math.max(size, base.json.length))
  if (dryRun) return { done: store.entry(base.key, object, base.revision) }
  const { value, entry } = offer(store, base.key, object)
  return outcomeOf(store, await store.backend.update(base.key, value, base.revision), entry)
}

/** Removes `base`, whose last state is shown as `object`. */
export async function erase (store: ResourceStore, base: Entry, object: ApiObject, { dryRun }: WriteContext): Promise<Outcome<Entry>> {
  const entry = (revision: number): Entry => store.entry(base.key, object, revision)
  if (dryRun) return { done: entry(base.revision) }
  return outcomeOf(store, await store.backend.delete(base.key, base.revision), entry)
}

function outcomeOf (store: ResourceStore, result: WriteResult, entry: (revision: number) => Entry): Outcome<Entry> {
  if (result.succeeded) return { done: entry(result.revision) }
  return { instead: result.current === undefined ? undefined : store.decode(result.current, result.current.modRevision) }
}

/** True when nothing holds a terminating object any longer. */
export function removable (store: ResourceStore, object: ApiObject): boolean {
  const { deletionTimestamp, finalizers } = object.metadata
  return deletionTimestamp !== undefined && (finalizers ?? []).length === 0 && store.strategy.held?.(object) !== true
}
