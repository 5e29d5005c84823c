/**
 * DELETE in its two phases: an object somebody holds (a finalizer, or what its strategy knows of) is marked
 * with a deletionTimestamp and stays until the last holder lets go; any other is removed at once.
 * (Interface: Deletion of an object.)
 */
import type { ApiObject } from '../../schemas/index.js'
import { badRequest, conflict, invalid } from '../../schemas/status.js'
import type { Entry } from '../cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest } from './context.js'
import type { Target, WriteContext } from './context.js'
import { now } from './create.js'
import { erase, removable, replace, rewrite, type Outcome } from './rewrite.js'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteRequest {
  readonly preconditions?: { readonly uid?: string | undefined, readonly resourceVersion?: string | undefined } | undefined
  readonly propagationPolicy?: Propagation | undefined
}

export interface Deleted {
  /** The object: its last state when removed, its marked state when held. */
  readonly entry: Entry
  readonly removed: boolean
}

/** The finalizer by which a garbage collector is asked to deal with the dependents first. */
const BY_PROPAGATION: Readonly<Record<Propagation, string | undefined>> = { Orphan: 'orphan', Foreground: 'foregroundDeletion', Background: undefined }
const PROPAGATION_FINALIZERS = new Set(['orphan', 'foregroundDeletion'])

/** @throws StatusError 404, 409 Conflict, whatever admission refuses with; StorageError */
export async function remove (store: ResourceStore, target: Target, request: DeleteRequest, context: WriteContext): Promise<Deleted> {
  return await rewrite(store, target, context, base => attempt(store, base, target, request, context))
}

async function attempt (store: ResourceStore, base: Entry, target: Target, request: DeleteRequest, context: WriteContext): Promise<Outcome<Deleted>> {
  const object = base.read()
  checkPreconditions(store, base, object, target, request)
  const admission = admissionRequest(store, context, target, 'DELETE', undefined, object)
  await store.admission.mutate(admission)
  await store.admission.validate(admission)

  const marked = mark(store, base, request)
  const removed = removable(store, marked)
  const outcome = removed ? await erase(store, base, object, context) : await replace(store, base, marked, context)
  return 'done' in outcome ? { ...outcome, done: { entry: outcome.done, removed } } : outcome
}

function checkPreconditions (store: ResourceStore, base: Entry, object: ApiObject, target: Target, { preconditions }: DeleteRequest): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const there = object.metadata.uid ?? ''
  if (uid !== undefined && uid !== there) throw conflict(store.resource, target.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${there}`)
  if (resourceVersion !== undefined && resourceVersion !== String(base.revision)) {
    throw conflict(store.resource, target.name, `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${base.revision}`)
  }
}

/** The object as it looks once its deletion has begun. */
function mark (store: ResourceStore, base: Entry, { propagationPolicy }: DeleteRequest): ApiObject {
  const object = base.copy()
  const { metadata } = object
  const begun = metadata.deletionTimestamp !== undefined
  if (!begun || propagationPolicy !== undefined) {
    const wanted = propagationPolicy === undefined ? undefined : BY_PROPAGATION[propagationPolicy]
    const kept = (metadata.finalizers ?? []).filter(finalizer => propagationPolicy === undefined || !PROPAGATION_FINALIZERS.has(finalizer) || finalizer === wanted)
    if (wanted !== undefined && !kept.includes(wanted)) kept.push(wanted)
    if (kept.length > 0) metadata.finalizers = kept
    else delete metadata.finalizers
  }
  if (!begun) {
    metadata.deletionTimestamp = now()
    metadata.deletionGracePeriodSeconds = 0
    store.strategy.beginDelete?.(object)
  }
  return object
}

/**
 * The propagation a request names, by either of its two spellings.
 * @throws StatusError 422 for an unknown one or both spellings
 */
export function propagationOf (policy: string | undefined, orphanDependents: boolean | undefined): Propagation | undefined {
  const kind = { group: 'meta.orch.io', kind: 'DeleteOptions' }
  if (policy !== undefined && orphanDependents !== undefined) {
    throw invalid(kind, '', [{ type: 'FieldValueInvalid', field: 'propagationPolicy', value: policy, detail: 'orphanDependents and propagationPolicy cannot be both set' }])
  }
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  if (policy === undefined) return undefined
  if (!Object.hasOwn(BY_PROPAGATION, policy)) {
    throw invalid(kind, '', [{ type: 'FieldValueNotSupported', field: 'propagationPolicy', value: policy, detail: 'supported values: "Orphan", "Background", "Foreground"' }])
  }
  return policy as Propagation // one of the three, as just checked
}

/** @throws StatusError 400 when it is no count of seconds. */
export function gracePeriodOf (seconds: number | undefined): void {
  if (seconds !== undefined && seconds < 0) throw badRequest(`gracePeriodSeconds must be a non-negative number of seconds, not ${seconds}`)
}
