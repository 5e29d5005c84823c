/**
 * DELETE in two phases: an object with finalizers or a grace period is marked with a deletionTimestamp and removed when nothing holds it any longer; other
 * objects are removed at once.
 * (Interface: Deletion of an object.)
 */
import { timestamp, decode, nextGeneration, UNBOUNDED, type ApiObject, type Strategy, type Int64 } from '../../schemas/index.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import { conflict, invalid, notFound } from '../../schemas/status.js'
import type { KeyValue } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { isUnreadable, type StorageError } from '../../storage/errors.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest } from './admission-request.js'
import { changedSince } from './changed-since.js'
import { now, type ObjectWrite, type Target, type WriteContext } from './context.js'
import { admitDeletion } from './delete-admission.js'
import { removeAndRelease, removable, replace, rewrite, type Outcome } from './rewrite.js'
import { isLarge, nextTurn } from '../../event-loop/turns.js'
import { transact } from './transact.js'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteRequest {
  readonly preconditions?: { readonly uid?: string | undefined, readonly resourceVersion?: string | undefined } | undefined
  readonly propagationPolicy?: Propagation | undefined
  /** Requested grace period in seconds, for strategies that have one. Default: the object's own. */
  readonly gracePeriodSeconds?: number | undefined
  /** Skips admission, because the request that causes this deletion was admitted. */
  readonly admitted?: true
}

export interface Deleted {
  /** The last state of a removed object, or the marked state. */
  readonly entry: Entry
  readonly removed: boolean
}

const BY_PROPAGATION: Readonly<Record<Propagation, string | undefined>> = { Orphan: ORPHAN_FINALIZER, Foreground: FOREGROUND_FINALIZER, Background: undefined }
const PROPAGATION_FINALIZERS = new Set([ORPHAN_FINALIZER, FOREGROUND_FINALIZER])

/** @throws StatusError 404, 409 Conflict, any admission refusal; StorageError */
export async function remove (store: ResourceStore, target: Target, request: DeleteRequest, context: WriteContext): Promise<Deleted> {
  try {
    return await rewrite(store, target, context, base => attempt(store, base, target, request, context))
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return await removeDamaged(store, target, request, context, error)
  }
}

/**
 * Removes an unreadable object at once: it can be neither marked nor finalized.
 * @param damage the decoding error
 */
async function removeDamaged (store: ResourceStore, target: Target, { preconditions }: DeleteRequest, context: WriteContext, damage: StorageError): Promise<Deleted> {
  const key = store.key(target.namespace, target.name)
  const { kv } = await store.backend.get(key)
  if (kv === undefined) throw notFound(store.resource, target.name)
  if (!isDamaged(store, kv)) throw damage
  const { uid, resourceVersion } = preconditions ?? {}
  if (uid !== undefined || (resourceVersion !== undefined && resourceVersion !== String(kv.modRevision))) {
    const why = 'the stored object cannot be read, so that its UID cannot be compared'
    const message = `Precondition failed: ${why} and its ResourceVersion is ${kv.modRevision}`
    throw conflict(store.resource, target.name, message)
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
    if (isUnreadable(error)) return true
    throw error
  }
}

async function attempt (store: ResourceStore, base: Entry, target: Target, request: DeleteRequest, context: WriteContext): Promise<Outcome<Deleted>> {
  const { length } = base.json
  const object = base.read()
  if (isLarge(length)) await nextTurn()
  await checkPreconditions({ store, target, context }, base, object, request)
  if (request.admitted !== true) await admitDeletion(store, object, target, request, context)
  const marked = mark(store, base, request)
  if (isLarge(length)) await nextTurn()
  if (!removable(store, marked)) return withDone(await replace(store, base, marked, context, Infinity), entry => ({ entry, removed: false }))
  if (store.strategy.gracePeriod === undefined && store.strategy.beginDelete === undefined) return withDone(await removeAndRelease(store, base, object, context), removed)
  return await eraseMarked(store, base, marked, context)
}

const removed = (entry: Entry): Deleted => ({ entry, removed: true })

const withDone = (outcome: Outcome<Entry>, make: (entry: Entry) => Deleted): Outcome<Deleted> =>
  'done' in outcome ? { ...outcome, done: make(outcome.done) } : outcome

/** Types with a grace period or a terminating phase are marked before they are removed, so that watchers see that state. */
async function eraseMarked (store: ResourceStore, base: Entry, marked: ApiObject, context: WriteContext): Promise<Outcome<Deleted>> {
  const marking = await replace(store, base, marked, context, Infinity)
  if (context.dryRun || !('done' in marking)) return withDone(marking, removed)
  const outcome = withDone(await removeAndRelease(store, marking.done, marking.done.read(), context), removed)
  // Another client may remove the object in between, which completes this deletion.
  return 'instead' in outcome && outcome.instead === undefined ? { done: removed(marking.done), unwritten: false } : outcome
}

async function checkPreconditions (
  write: ObjectWrite, base: Entry, object: ApiObject, { preconditions }: DeleteRequest
): Promise<void> {
  if (preconditions === undefined) return
  const { uid, resourceVersion } = preconditions
  const currentUid = object.metadata.uid ?? ''
  // As upstream, errors name the kind, except for namespaces.
  const { group, kind, plural } = write.store.representation
  const resource = { group, resource: kind === 'Namespace' ? plural : kind }
  const refuse = (why: string): never => { throw conflict(resource, write.target.name, why) }
  const messages = kind === 'Namespace' ? OF_NAMESPACES : OF_OTHERS
  if (uid !== undefined && uid !== currentUid) refuse(messages.uid(uid, currentUid))
  const current = String(base.revision)
  if (resourceVersion === undefined || resourceVersion === current) return
  const explanation = await changedSince(write, base, Number(resourceVersion))
  refuse(messages.resourceVersion(resourceVersion, current) + explanation)
}

const OF_NAMESPACES = {
  uid: (expected: string, current: string) => `Precondition failed: UID in precondition: ${expected}, UID in object meta: ${current}`,
  resourceVersion: (expected: string, current: string) => `Precondition failed: ResourceVersion in precondition: ${expected}, ResourceVersion in object meta: ${current}`
}
const OF_OTHERS = {
  uid: (expected: string, current: string) => `the UID in the precondition (${expected}) does not match the UID in record (${current}). The object might have been deleted and then recreated`,
  resourceVersion: (expected: string, current: string) => `the ResourceVersion in the precondition (${expected}) does not match the ResourceVersion in record (${current}). The object might have been modified`
}

/** The object as it looks once its deletion has begun. */
function mark (store: ResourceStore, base: Entry, { propagationPolicy, gracePeriodSeconds }: DeleteRequest): ApiObject {
  const object = base.copy()
  const { metadata } = object
  const terminating = metadata.deletionTimestamp !== undefined
  if (terminating && (metadata.deletionGracePeriodSeconds ?? 0) > 0 && !shortenGracePeriod(metadata, gracePeriodSeconds)) return object
  // A namespace that is being emptied keeps its first propagation policy.
  if (terminating && store.strategy.blocksRemoval?.(object) === true) return object
  if (store.dependents !== 'left') setDependentFinalizers(metadata, store.dependents, propagationPolicy)
  if (!terminating) {
    const grace = store.strategy.gracePeriod?.(object, gracePeriodSeconds) ?? 0
    metadata.deletionTimestamp = now(store, grace)
    metadata.deletionGracePeriodSeconds = grace
    // Controllers must react to the new deletionTimestamp. Types with a `beginDelete` of their own count no generation for it.
    if (store.strategy.beginDelete === undefined && (metadata.generation ?? 0) > 0) metadata.generation = nextGeneration(object)
    store.strategy.beginDelete?.(object)
  }
  return object
}

/** Sets the finalizer for dependents: the policy of the request, else of the object, else of its type. */
function setDependentFinalizers (metadata: ApiObject['metadata'], ofType: Strategy['dependents'], policy: Propagation | undefined): void {
  const { finalizers = [] } = metadata
  const byItself = finalizers.find(finalizer => PROPAGATION_FINALIZERS.has(finalizer)) ?? (ofType === 'orphaned' ? ORPHAN_FINALIZER : undefined)
  const wanted = ofType === 'none' ? undefined : policy === undefined ? byItself : BY_PROPAGATION[policy]
  const kept = finalizers.filter(finalizer => !PROPAGATION_FINALIZERS.has(finalizer) || finalizer === wanted)
  if (wanted !== undefined && !kept.includes(wanted)) kept.push(wanted)
  if (kept.length > 0) metadata.finalizers = kept
  else delete metadata.finalizers
}

/** Shortens a running grace period. @returns false if it would not become shorter; the deletion then changes nothing */
function shortenGracePeriod (metadata: ApiObject['metadata'], seconds: number | undefined): boolean {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: before = 0 } = metadata
  if (seconds === undefined || seconds >= before) return false
  metadata.deletionTimestamp = timestamp(Date.parse(deletionTimestamp) + (seconds - Number(before)) * 1000)
  metadata.deletionGracePeriodSeconds = seconds
  return true
}

/**
 * The propagation policy of a request, given in either of two options.
 * @throws StatusError 422 for an unknown policy, or if both options are set
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

/** The largest offset of a date, in seconds. */
const MAX_SECONDS = 2 ** 31 - 1

/** A negative period means one second. */
export function gracePeriodOf (seconds: Int64 | undefined): number | undefined {
  if (seconds === undefined) return undefined
  return seconds < 0 ? 1 : Math.min(Number(seconds), MAX_SECONDS)
}
