/**
 * PUT, and the update attempt that PUT and PATCH share. On a conflict the change runs again on the current object, unless the request named a
 * resourceVersion.
 */
import { removeUnstoredEmpty, clone, type ApiObject } from '../../schemas/index.js'
import { conflict, invalid, isStatusError, notFound, type StatusError } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import type { WaitingSteps } from '../../schemas/steps.js'
import { runStepsYielding, runWaiting, isLarge, nextTurn } from '../../event-loop/turns.js'
import { allocating } from './allocation.js'
import { admissionRequest } from './admission-request.js'
import { changedSince } from './changed-since.js'
import type { ObjectWrite, Target, WriteContext } from './context.js'
import { create } from './create.js'
import { matchTarget } from './identity.js'
import { bytesOf, mayGrow, refuseTooLarge } from './object-limits.js'
import { mergeOwnerReferences } from './owner-references.js'
import { inheritOwners, trackChange } from './ownership.js'
import { mutate, prepareChange, validateChange } from './pipeline.js'
import { removeAndRelease, removable, replace, rewrite, type Outcome } from './rewrite.js'

/** Makes the new object from the current one, as a separate copy. `old` is decoded and frozen. Throws a StatusError to refuse. */
export type Change = (current: Entry, old: ApiObject) => ApiObject | Promise<ApiObject>

/** Sets the managers of the new object, in steps. */
export type Track = (object: ApiObject, old: ApiObject) => WaitingSteps<void>

export interface Written {
  readonly entry: Entry
  /** True if the object was created, false if it was replaced. */
  readonly created: boolean
}

/** Retries when other clients keep creating and deleting the object. */
const MAX_ATTEMPTS = 20
const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/**
 * Handles PUT.
 * @param object may be changed in place
 * @throws StatusError 400, 404, 409 Conflict, 422, any admission refusal; StorageError
 */
export async function update (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Written> {
  matchTarget(store, object, target)
  mergeOwnerReferences(object, context.warn)
  const sent = { metadata: { uid: object.metadata.uid } }
  const createOnUpdate = store.representation.createOnUpdate && (target.subresource ?? '') === ''
  // Start over if the object appears or disappears between the read and the write.
  for (let attempts = 0; ; attempts++) {
    const replaced = await rewrite(store, target, context, base => attempt(store, base, target, context, (_, old) => {
      requireUid(store, sent, old, target)
      return clone(object) // each attempt changes a copy
    }), () => undefined)
    if (replaced !== undefined) return { entry: replaced, created: false }
    if (sent.metadata.uid) throw conflict(store.resource, target.name, `Precondition failed: UID in precondition: ${sent.metadata.uid}, UID in object meta: `)
    if (!createOnUpdate) throw notFound(store.resource, target.name)
    await context.mayCreate?.()
    try {
      return { entry: await create(store, clone(object), target, context), created: true }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      if (attempts === MAX_ATTEMPTS) throw conflict(store.resource, target.name, MODIFIED)
    }
  }
}

/**
 * Changes an existing object.
 * @param track by default the author of a change owns the changed fields
 * @returns the stored object; under dry run the object that would be stored
 * @throws StatusError 404, and as `update`
 */
export async function change (store: ResourceStore, target: Target, context: WriteContext, make: Change, track?: Track): Promise<Entry> {
  return await rewrite(store, target, context, base => attempt(store, base, target, context, make, track))
}

/**
 * One attempt of a change.
 * @param track sets the managers of the new object
 */
export async function attempt (store: ResourceStore, base: Entry, target: Target, context: WriteContext, make: Change, track: Track = (object, old) => trackChange(store, object, old, context, target.subresource ?? '')): Promise<Outcome<Entry>> {
  let size = Math.max(context.size ?? 0, base.json.length)
  const old = isLarge(base.json.length) ? await runStepsYielding(store.readingStored(base)) : store.readStored(base)
  if (isLarge(size)) await nextTurn()
  const object = await make(base, old)
  size = bytesOf(object, size, mayGrow(store, context))
  if (isLarge(size)) refuseTooLarge(object)
  if (isLarge(size)) await nextTurn()
  if (!isCurrent(store, object, base, target)) throw await stale({ store, target, context }, object, base)

  const request = admissionRequest(store, context, target, 'UPDATE', object, old)
  await mutate(store, request, object)
  const large = isLarge(size)
  if (large) await nextTurn()
  mergeOwnerReferences(object, context.warn, true)
  inheritMetadata(object, old)
  inheritOwners(object, old, target.subresource ?? '')
  const { subresource = '' } = target
  prepareChange(store, object, old, subresource)
  if (large) await nextTurn()
  const allocates = store.allocation !== undefined && subresource === '' && !removable(store, object)
  const validate = (): Promise<void> => validateChange({ store, target, context }, object, old, size)
  if (!allocates) await validate()
  // Before allocation: the client does not own allocated values.
  const tracking = large ? runStepsYielding(track(object, old)) : runWaiting(track(object, old))
  if (tracking !== undefined) await tracking
  store.strategy.settle?.(object, old)
  const write = async (): Promise<Outcome<Entry>> => {
    await store.admission.validate(request)
    return await replace(store, base, object, context)
  }
  // Removing the last finalizer of a terminating object deletes it.
  if (removable(store, object)) {
    await store.admission.validate(request)
    removeUnstoredEmpty(store.stored.message, object)
    return await removeAndRelease(store, base, object, context)
  }
  if (!allocates) return await write()
  return await allocating(store, object, old, context.dryRun, async () => {
    await validate()
    return await write()
  }, outcome => 'done' in outcome)
}

/** A uid in a replacement is a precondition. Validation refuses patches that change it. @throws StatusError 409 */
export function requireUid (store: ResourceStore, { metadata: { uid = '' } }: Pick<ApiObject, 'metadata'>, { metadata: { uid: currentUid = '' } }: ApiObject, target: Target, resource = store.resource): void {
  if (uid !== '' && uid !== currentUid) throw conflict(resource, target.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${currentUid}`)
}

/** Whether the request's resourceVersion, if it must have one, is the current one. @throws StatusError 422 */
function isCurrent (store: ResourceStore, object: ApiObject, base: Entry, target: Target): boolean {
  const { resourceVersion = '' } = object.metadata
  if (resourceVersion === '' || resourceVersion === '0') {
    if (store.representation.unconditionalUpdate) return true
    // Upstream puts the resource name in `kind`.
    throw invalid({ ...store.resource, kind: store.resource.resource }, target.name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' }])
  }
  if (!/^\d{1,16}$/.test(resourceVersion)) {
    throw invalid(store.representation, target.name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', value: resourceVersion, detail: 'is not a version this server gave out' }])
  }
  return resourceVersion === String(base.revision)
}

async function stale (write: ObjectWrite, object: ApiObject, base: Entry): Promise<StatusError> {
  const { store, target: { name, subresource } } = write
  // A scale has other fields than the object.
  const isView = store.representation.subresources.some(one => one.name === subresource && one.view !== undefined)
  const explanation = isView ? '' : await changedSince(write, base, Number(object.metadata.resourceVersion), object)
  return conflict(store.resource, name, MODIFIED + explanation)
}

/** Keeps metadata that an update may omit or only the server changes. */
function inheritMetadata ({ metadata }: ApiObject, { metadata: old }: ApiObject): void {
  const keep = <K extends keyof typeof metadata>(field: K): void => {
    if (old[field] === undefined) delete metadata[field]
    else metadata[field] = old[field]
  }
  if ((metadata.uid ?? '') === '') keep('uid')
  keep('creationTimestamp')
  if (old.deletionTimestamp !== undefined) keep('deletionTimestamp')
  metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds
  keep('generation')
  delete metadata.selfLink
  delete metadata.clusterName
}
