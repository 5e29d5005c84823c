/**
 * The attempt that PUT and PATCH share, and PUT itself. A change is a function from what is there to what shall
 * be; whenever somebody else wrote first it runs again on what is there then, unless the request named the
 * version it meant.
 */
import { clone, forgetEmpty } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { conflict, invalid, isStatusError, notFound } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { finish } from '../../schemas/steps.js'
import { inTurns, isLarge, nextTurn } from '../../storage/turns.js'
import type { Steps } from '../../schemas/steps.js'
import { allocating } from './allocation.js'
import { admissionRequest } from './admission-request.js'
import type { Target, WriteContext } from './context.js'
import { create } from './create.js'
import { matchTarget } from './identity.js'
import { bytesOf, refuseHeavy } from './storable.js'
import { mergeOwnerReferences } from './owner-references.js'
import { inheritOwners, trackChange } from './ownership.js'
import { mutate, prepareChange, validateChange } from './pipeline.js'
import { eraseAllocated, removable, replace, rewrite, type Outcome } from './rewrite.js'

/** From what is there to what shall be, an object of its own; `old` is what is there, decoded, and frozen. Throws a StatusError to refuse. */
export type Change = (current: Entry, old: ApiObject) => ApiObject | Promise<ApiObject>

/** Says who owns what of the object then, in steps. */
export type Track = (object: ApiObject, old: ApiObject) => Steps<void>

export interface Written {
  readonly entry: Entry
  /** False when an object was replaced, true when there was none. */
  readonly created: boolean
}

/** Of creating what others create and delete all the while. */
const MOST_ATTEMPTS = 20
const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/**
 * PUT.
 * @param object its own from now on
 * @throws StatusError 400, 404, 409 Conflict, 422, whatever admission refuses with; StorageError
 */
export async function update (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Written> {
  matchTarget(store, object, target)
  mergeOwnerReferences(object, context.warn)
  const sent = { metadata: { uid: object.metadata.uid } }
  const createOnUpdate = store.representation.createOnUpdate && (target.subresource ?? '') === ''
  // What comes or goes between a read and the write did so before, to this client: it begins anew with what is there then.
  for (let attempts = 0; ; attempts++) {
    const replaced = await rewrite(store, target, context, base => attempt(store, base, target, context, (_, old) => {
      requireUid(store, sent, old, target)
      return clone(object) // each attempt changes its own
    }), () => undefined)
    if (replaced !== undefined) return { entry: replaced, created: false }
    if (sent.metadata.uid) throw conflict(store.resource, target.name, `Precondition failed: UID in precondition: ${sent.metadata.uid}, UID in object meta: `)
    if (!createOnUpdate) throw notFound(store.resource, target.name)
    await context.mayCreate?.()
    try {
      return { entry: await create(store, clone(object), target, context), created: true }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      if (attempts === MOST_ATTEMPTS) throw conflict(store.resource, target.name, MODIFIED)
    }
  }
}

/**
 * Changes what is there.
 * @param track default whoever changes a field owns it
 * @returns what is stored now; under dry run what would be
 * @throws StatusError 404, and as `update`
 */
export async function change (store: ResourceStore, target: Target, context: WriteContext, make: Change, track?: Track): Promise<Entry> {
  return await rewrite(store, target, context, base => attempt(store, base, target, context, make, track))
}

/**
 * One attempt at a change.
 * @param track says who owns which of its fields then
 */
export async function attempt (store: ResourceStore, base: Entry, target: Target, context: WriteContext, make: Change, track: Track = (object, old) => trackChange(store, object, old, context, target.subresource ?? '')): Promise<Outcome<Entry>> {
  let size = Math.max(context.size ?? 0, base.json.length)
  const old = isLarge(base.json.length) ? await inTurns(store.readingStored(base)) : store.readStored(base)
  if (isLarge(size)) await nextTurn()
  const object = await make(base, old)
  size = bytesOf(object, size, context.mayGrow)
  if (isLarge(size)) refuseHeavy(object)
  if (isLarge(size)) await nextTurn()
  checkVersion(store, object, base, target)

  const request = admissionRequest(store, context, target, 'UPDATE', object, old)
  await mutate(store, request, object)
  const large = isLarge(size)
  if (large) await nextTurn()
  mergeOwnerReferences(object, context.warn, true)
  inherit(object, old)
  inheritOwners(object, old, target.subresource ?? '')
  const { subresource = '' } = target
  prepareChange(store, object, old, subresource)
  if (large) await nextTurn()
  const allocates = store.allocation !== undefined && subresource === '' && !removable(store, object)
  const validate = (): Promise<void> => validateChange(store, object, old, subresource, size, context.warn)
  if (!allocates) await validate()
  // Before the allocation: who writes does not own what is allocated.
  const tracking = track(object, old)
  if (large) await inTurns(tracking)
  else finish(tracking)
  store.strategy.settle?.(object, old)
  const write = async (): Promise<Outcome<Entry>> => {
    await store.admission.validate(request)
    return await replace(store, base, object, context)
  }
  // An update that takes away the last finalizer of a terminating object removes it.
  if (removable(store, object)) {
    await store.admission.validate(request)
    forgetEmpty(store.stored.message, object)
    return await eraseAllocated(store, base, object, context)
  }
  if (!allocates) return await write()
  return await allocating(store, object, old, context.dryRun, async () => {
    await validate()
    return await write()
  }, outcome => 'done' in outcome)
}

/** Who replaces an object and names a uid means that one. A patch that would change it is refused by validation. @throws StatusError 409 */
export function requireUid (store: ResourceStore, { metadata: { uid = '' } }: Pick<ApiObject, 'metadata'>, { metadata: { uid: there = '' } }: ApiObject, target: Target, resource = store.resource): void {
  if (uid !== '' && uid !== there) throw conflict(resource, target.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${there}`)
}

/** The version a request names must be that of what is there. */
function checkVersion (store: ResourceStore, { metadata: { resourceVersion = '' } }: ApiObject, base: Entry, target: Target): void {
  if (resourceVersion === '' || resourceVersion === '0') {
    if (store.representation.unconditionalUpdate) return
    // Its kind is told by the name of the resource, as convention.
    throw invalid({ ...store.resource, kind: store.resource.resource }, target.name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' }])
  }
  if (!/^\d{1,16}$/.test(resourceVersion)) {
    throw invalid(store.representation, target.name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', value: resourceVersion, detail: 'is not a version this server gave out' }])
  }
  if (resourceVersion !== String(base.revision)) throw conflict(store.resource, target.name, MODIFIED)
}

/** What an update may leave out, and what only the server changes. */
function inherit ({ metadata }: ApiObject, { metadata: old }: ApiObject): void {
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
