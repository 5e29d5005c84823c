/**
 * The attempt that PUT and PATCH share, and PUT itself. A change is a function from what is there to what shall
 * be; whenever somebody else wrote first it runs again on what is there then, unless the request named the
 * version it meant.
 */
import { applyDefaults, clone, validateUpdate } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { badRequest, conflict, invalid, isStatusError, notFound } from '../../schemas/status.js'
import type { Entry } from '../cache/entry.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest, giveWay, refuse } from './context.js'
import type { Target, WriteContext } from './context.js'
import { create } from './create.js'
import { erase, removable, replace, rewrite, type Outcome } from './rewrite.js'

/** From what is there to what shall be, an object of its own. Throws a StatusError to refuse. */
export type Change = (current: Entry) => ApiObject | Promise<ApiObject>

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
 * @throws StatusError 400, 404, 409 Conflict, 422, whatever admission refuses with; StorageError
 */
export async function update (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Written> {
  checkIdentity(store, object, target)
  const createOnUpdate = store.definition.createOnUpdate && (target.subresource ?? '') === ''
  // What comes or goes between a read and the write did so before, to this client: it begins anew with what is there then.
  for (let attempts = 0; ; attempts++) {
    // Each attempt needs an object of its own: preparing it changes it.
    const replaced = await rewrite(store, target, context, base => attempt(store, base, target, context, () => clone(object)), () => undefined)
    if (replaced !== undefined) return { entry: replaced, created: false }
    if (!createOnUpdate) throw notFound(store.resource, target.name)
    try {
      return { entry: await createByUpdate(store, clone(object), target, context), created: true }
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      if (attempts === MOST_ATTEMPTS) throw conflict(store.resource, target.name, MODIFIED)
    }
  }
}

async function createByUpdate (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Entry> {
  const { uid = '' } = object.metadata
  if (uid !== '') throw conflict(store.resource, target.name, `Precondition failed: UID in precondition: ${uid}, but the object does not exist`)
  return await create(store, object, target, context)
}

function checkIdentity (store: ResourceStore, { metadata }: ApiObject, target: Target): void {
  if ((metadata.name ?? '') === '') metadata.name = target.name
  if (metadata.name !== target.name) throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`)
  if (!store.definition.namespaced) return
  if ((metadata.namespace ?? '') === '') metadata.namespace = target.namespace
  if (metadata.namespace !== target.namespace) throw badRequest(`the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${target.namespace})`)
}

/**
 * Changes what is there.
 * @returns what is stored now; under dry run what would be
 * @throws StatusError 404, and as `update`
 */
export async function change (store: ResourceStore, target: Target, context: WriteContext, make: Change): Promise<Entry> {
  return await rewrite(store, target, context, base => attempt(store, base, target, context, make))
}

async function attempt (store: ResourceStore, base: Entry, target: Target, context: WriteContext, make: Change): Promise<Outcome<Entry>> {
  const size = Math.max(context.size ?? 0, base.json.length)
  const old = base.read()
  await giveWay(size)
  const object = await make(base)
  await giveWay(size)
  checkVersion(store, object, base, old, target)
  inherit(object, old)
  store.strategy.prepareForUpdate?.(object, old, target.subresource ?? '')

  const request = admissionRequest(store, context, target, 'UPDATE', object, old)
  await store.admission.mutate(request)
  applyDefaults(store.definition.message, object)
  refuse(store, object, validateUpdate(store.definition, object, old))
  await giveWay(size)
  await store.admission.validate(request)

  // An update that takes away the last finalizer of a terminating object removes it.
  if (removable(store, object)) return await erase(store, base, object, context)
  return await replace(store, base, object, context)
}

/** The version and uid a request names must be those of what is there. */
function checkVersion (store: ResourceStore, { metadata }: ApiObject, base: Entry, old: ApiObject, target: Target): void {
  const { resourceVersion = '', uid = '' } = metadata
  const there = old.metadata.uid ?? ''
  if (uid !== '' && uid !== there) throw conflict(store.resource, target.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${there}`)
  if (resourceVersion === '' || resourceVersion === '0') {
    if (store.definition.unconditionalUpdate) return
    throw invalid(store.definition, target.name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' }])
  }
  if (!/^\d{1,16}$/.test(resourceVersion)) {
    throw invalid(store.definition, target.name, [{ type: 'FieldValueInvalid', field: 'metadata.resourceVersion', value: resourceVersion, detail: 'is not a version this server gave out' }])
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
  metadata.creationTimestamp ??= old.creationTimestamp
  if (old.deletionTimestamp !== undefined) keep('deletionTimestamp')
  metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds
  keep('generation')
  delete metadata.selfLink
  delete metadata.managedFields
}
