/**
 * DELETE in its two phases: an object somebody holds (a finalizer, or what its strategy knows of) is marked
 * with a deletionTimestamp and stays until the last holder lets go; any other is removed at once.
 * (Interface: Deletion of an object.)
 */
import { decode, nextGeneration, timestamp, UNBOUNDED } from '../../schemas/index.js'
import type { ApiObject, Int64, Strategy } from '../../schemas/index.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import { conflict, invalid, notFound } from '../../schemas/status.js'
import type { KeyValue } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isStorageError } from '../../storage/errors.js'
import type { StorageError } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest } from './admission-request.js'
import { now } from './context.js'
import type { Target, WriteContext } from './context.js'
import { admitDeletion } from './delete-admission.js'
import { eraseAllocated, removable, replace, rewrite, type Outcome } from './rewrite.js'
import { isLarge, nextTurn } from '../../storage/turns.js'
import { transact } from './transact.js'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteRequest {
  readonly preconditions?: { readonly uid?: string | undefined, readonly resourceVersion?: string | undefined } | undefined
  readonly propagationPolicy?: Propagation | undefined
  /** Seconds the object gets to end, where its strategy knows of a grace period. Default what the object says. */
  readonly gracePeriodSeconds?: number | undefined
  /** It has been admitted as what it follows from, and is not admitted as a deletion. */
  readonly admitted?: true
}

export interface Deleted {
  /** The object: its last state when removed, its marked state when held. */
  readonly entry: Entry
  readonly removed: boolean
}

const BY_PROPAGATION: Readonly<Record<Propagation, string | undefined>> = { Orphan: ORPHAN_FINALIZER, Foreground: FOREGROUND_FINALIZER, Background: undefined }
const PROPAGATION_FINALIZERS = new Set([ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

/** @throws StatusError 404, 409 Conflict, whatever admission refuses with; StorageError */
export async function remove (store: ResourceStore, target: Target, request: DeleteRequest, context: WriteContext): Promise<Deleted> {
  try {
    return await rewrite(store, target, context, base => attempt(store, base, target, request, context))
  } catch (error) {
    if (!isStorageError(error, 'Corrupt')) throw error
    return await removeDamaged(store, target, request, context, error)
  }
}

/**
 * What can't be read can't be marked, and nobody can be asked to let go of it: it is removed at once.
 * @param damage why it could not be read
 */
async function removeDamaged (store: ResourceStore, target: Target, { preconditions }: DeleteRequest, context: WriteContext, damage: StorageError): Promise<Deleted> {
  const key = store.key(target.namespace, target.name)
  const { kv } = await store.backend.get(key)
  if (kv === undefined) throw notFound(store.resource, target.name)
  if (!isDamaged(store, kv)) throw damage
  const { uid, resourceVersion } = preconditions ?? {}
  if (uid !== undefined || (resourceVersion !== undefined && resourceVersion !== String(kv.modRevision))) {
    throw conflict(store.resource, target.name, 'Precondition failed: the stored object is damaged, so that its UID cannot be compared and its ResourceVersion is ' + String(kv.modRevision))
  }
  const admission = admissionRequest(store, context, target, 'DELETE', undefined, undefined)
  await store.admission.mutate(admission)
  await store.admission.validate(admission)
  const result = context.dryRun ? { succeeded: true, revision: kv.modRevision } : await transact(store, context, 'delete', () => store.backend.delete(key, kv.modRevision))
  if (!result.succeeded) throw conflict(store.resource, target.name, 'the object has been modified; please apply your changes to the latest version and try again')
  const { kind, group, version } = store.stored
  const metadata = { name: target.name, ...(target.namespace === '' ? {} : { namespace: target.namespace }) }
  const { object } = decode(store.stored.message, { kind, apiVersion: group === '' ? version : `${group}/${version}`, metadata }, UNBOUNDED)
  return { entry: store.entry(key, object, result.revision), removed: true }
}

function isDamaged (store: ResourceStore, kv: KeyValue): boolean {
  try {
    store.decode(kv, kv.modRevision)
    return false
  } catch (error) {
    if (isStorageError(error, 'Corrupt')) return true
    throw error
  }
}

async function attempt (store: ResourceStore, base: Entry, target: Target, request: DeleteRequest, context: WriteContext): Promise<Outcome<Deleted>> {
  const { length } = base.json
  const object = base.read()
  if (isLarge(length)) await nextTurn()
  checkPreconditions(store, base, object, target, request)
  if (request.admitted !== true) await admitDeletion(store, object, target, request, context)
  const marked = mark(store, base, request)
  if (isLarge(length)) await nextTurn()
  if (!removable(store, marked)) return withDone(await replace(store, base, marked, context, Infinity), entry => ({ entry, removed: false }))
  if (store.strategy.gracePeriod === undefined && store.strategy.beginDelete === undefined) return withDone(await eraseAllocated(store, base, object, context), removed)
  return await eraseMarked(store, base, marked, context)
}

const removed = (entry: Entry): Deleted => ({ entry, removed: true })

const withDone = (outcome: Outcome<Entry>, make: (entry: Entry) => Deleted): Outcome<Deleted> =>
  'done' in outcome ? { ...outcome, done: make(outcome.done) } : outcome

/** What shows that it goes, a pod with its grace period or a namespace with its phase, does so where it goes at once, too: it is marked first, then removed. */
async function eraseMarked (store: ResourceStore, base: Entry, marked: ApiObject, context: WriteContext): Promise<Outcome<Deleted>> {
  const told = await replace(store, base, marked, context, Infinity)
  if (context.dryRun || !('done' in told)) return withDone(told, removed)
  const outcome = withDone(await eraseAllocated(store, told.done, told.done.read(), context), removed)
  // Who removes it meanwhile does what was asked for.
  return 'instead' in outcome && outcome.instead === undefined ? { done: removed(told.done), unwritten: false } : outcome
}

function checkPreconditions (store: ResourceStore, base: Entry, object: ApiObject, target: Target, { preconditions }: DeleteRequest): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const there = object.metadata.uid ?? ''
  // Told by the kind, as convention, but of namespaces.
  const { group, kind, plural } = store.representation
  const refuse = (why: string): never => { throw conflict({ group, resource: kind === 'Namespace' ? plural : kind }, target.name, why) }
  const words = kind === 'Namespace' ? OF_NAMESPACES : OF_OTHERS
  if (uid !== undefined && uid !== there) refuse(words.uid(uid, there))
  if (resourceVersion !== undefined && resourceVersion !== String(base.revision)) refuse(words.resourceVersion(resourceVersion, String(base.revision)))
}

const OF_NAMESPACES = {
  uid: (wanted: string, there: string) => `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${there}`,
  resourceVersion: (wanted: string, there: string) => `Precondition failed: ResourceVersion in precondition: ${wanted}, ResourceVersion in object meta: ${there}`
}
const OF_OTHERS = {
  uid: (wanted: string, there: string) => `the UID in the precondition (${wanted}) does not match the UID in record (${there}). The object might have been deleted and then recreated`,
  resourceVersion: (wanted: string, there: string) => `the ResourceVersion in the precondition (${wanted}) does not match the ResourceVersion in record (${there}). The object might have been modified`
}

/** The object as it looks once its deletion has begun. */
function mark (store: ResourceStore, base: Entry, { propagationPolicy, gracePeriodSeconds }: DeleteRequest): ApiObject {
  const object = base.copy()
  const { metadata } = object
  const begun = metadata.deletionTimestamp !== undefined
  if (begun && (metadata.deletionGracePeriodSeconds ?? 0) > 0 && !shorten(metadata, gracePeriodSeconds)) return object
  // A namespace that is being emptied: what it was asked to do with dependents at first holds.
  if (begun && store.strategy.blocksRemoval?.(object) === true) return object
  if (store.dependents !== 'left') setDependentFinalizers(metadata, store.dependents, propagationPolicy)
  if (!begun) {
    const grace = store.strategy.gracePeriod?.(object, gracePeriodSeconds) ?? 0
    metadata.deletionTimestamp = now(grace)
    metadata.deletionGracePeriodSeconds = grace
    // Controllers have to treat it differently from now on.
    if ((metadata.generation ?? 0) > 0) metadata.generation = nextGeneration(object)
    store.strategy.beginDelete?.(object)
  }
  return object
}

/** A finalizer says what becomes of dependents: what the request asks for, else what the object itself says, else its type. */
function setDependentFinalizers (metadata: ApiObject['metadata'], ofType: Strategy['dependents'], policy: Propagation | undefined): void {
  const { finalizers = [] } = metadata
  const byItself = finalizers.find(finalizer => PROPAGATION_FINALIZERS.has(finalizer)) ?? (ofType === 'orphaned' ? ORPHAN_FINALIZER : undefined)
  const wanted = ofType === 'none' ? undefined : policy === undefined ? byItself : BY_PROPAGATION[policy]
  const kept = finalizers.filter(finalizer => !PROPAGATION_FINALIZERS.has(finalizer) || finalizer === wanted)
  if (wanted !== undefined && !kept.includes(wanted)) kept.push(wanted)
  if (kept.length > 0) metadata.finalizers = kept
  else delete metadata.finalizers
}

/** A grace period that has begun can only become shorter. @returns false when it does not: then all is left as it is, whatever else was asked for */
function shorten (metadata: ApiObject['metadata'], seconds: number | undefined): boolean {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: before = 0 } = metadata
  if (seconds === undefined || seconds >= before) return false
  metadata.deletionTimestamp = timestamp(Date.parse(deletionTimestamp) + (seconds - Number(before)) * 1000)
  metadata.deletionGracePeriodSeconds = seconds
  return true
}

/**
 * The propagation a request names, by either of its two spellings.
 * @throws StatusError 422 for an unknown one or both spellings
 */
export function propagationOf (policy: string | undefined, orphanDependents: boolean | undefined): Propagation | undefined {
  const kind = { group: 'meta.orch.io', kind: 'DeleteOptions' }
  if (policy !== undefined && orphanDependents !== undefined) {
    throw invalid(kind, '', [{ type: 'FieldValueInvalid', field: 'propagationPolicy', value: policy, detail: 'orphanDependents and deletionPropagation cannot be both set' }])
  }
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (policy === undefined) return undefined
  if (!Object.hasOwn(BY_PROPAGATION, policy)) {
    throw invalid(kind, '', [{ type: 'FieldValueNotSupported', field: 'propagationPolicy', value: policy, detail: 'supported values: "Foreground", "Background", "Orphan"' }])
  }
  return policy as Propagation // one of the three, as just checked
}

/** What a date can be moved by. */
const MOST_SECONDS = 2 ** 31 - 1

/** Less than none is one second, as convention. */
export function gracePeriodOf (seconds: Int64 | undefined): number | undefined {
  if (seconds === undefined) return undefined
  return seconds < 0 ? 1 : Math.min(Number(seconds), MOST_SECONDS)
}
