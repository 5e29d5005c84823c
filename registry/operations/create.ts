/** Creates objects: POST, and PUT of a missing name. */
import { randomUUID } from 'node:crypto'
import { removeUnstoredEmpty, type ApiObject } from '../../schemas/index.js'
import { alreadyExists, badRequest, noUniqueName, timeout } from '../../schemas/status.js'
import type { AdmissionRequest, Precondition } from '../admission.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { PendingWrite } from '../../storage/cache/pending-writes.js'
import { isKey } from '../../storage/key.js'
import type { Manager } from '../apply/managers.js'
import type { ResourceStore } from '../resource-store.js'
import { SUFFIX_LENGTH, randomSuffix } from './suffix.js'
import { finish } from '../../schemas/steps.js'
import { runStepsYielding, isLarge, nextTurn } from '../../event-loop/turns.js'
import { allocating } from './allocation.js'
import { trackOwnership } from './track-ownership.js'
import { admissionRequest } from './admission-request.js'
import { now, refuse, type Target, type WriteContext } from './context.js'
import { mergeOwnerReferences } from './owner-references.js'
import { setOwners, trackAddition, trackCreation } from './ownership.js'
import { mutate, prepareNew, validateNew } from './pipeline.js'
import { createOn } from './create-on.js'
import { refuseTooLarge, encodeObject, bytesOf, mayGrow, type EncodedObject } from './object-limits.js'
import { matchNamespace, matchTarget } from './identity.js'
import { transact } from './transact.js'

const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH
/** Attempts with another suffix when a generated name is taken. */
const MAX_NAME_ATTEMPTS = 8

const generatedName = (base: string): string => base.slice(0, MAX_BASE_LENGTH) + randomSuffix()

/**
 * Creates the object, which it may change in place.
 * @param target name: '' uses the object's own or generates one
 * @param applied managers after an apply; admission then adds no ownership. By default the creator owns what it sent and what webhooks and host plugins
 * change
 * @returns the stored object, or under dry run the object that would be stored
 * @throws StatusError 400, 409 AlreadyExists, 422, any admission refusal; StorageError
 */
export async function create (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext, applied?: readonly Manager[]): Promise<Entry> {
  checkIdentity(store, object, target)
  mergeOwnerReferences(object, context.warn)
  const admitted: Admitted = {}
  // Track ownership before admission: the creator does not own what server plugins add.
  const size = bytesOf(object, context.size ?? 0, mayGrow(store, context))
  if (size !== context.size) context = { ...context, size }
  const large = isLarge(size)
  if (large) {
    refuseTooLarge(object)
    await nextTurn()
  }
  if (applied !== undefined) setOwners(object, applied)
  else if (large) await runStepsYielding(trackCreation(store, object, context))
  else finish(trackCreation(store, object, context))
  if (large) await nextTurn()
  let { managedFields } = object.metadata
  const request = admissionRequest(store, context, { ...target, name: object.metadata.name ?? '' }, 'CREATE', object, undefined, {
    precondition: precondition => { admitted.precondition = precondition },
    trackOwnership: applied === undefined ? trackOwnership(store, object, (before, after) => { managedFields = trackAddition(store, managedFields, before, after, context) }) : undefined
  })
  await mutate(store, request, object)
  if (large) await nextTurn()
  mergeOwnerReferences(object, context.warn, true)
  // Admission must not rename an object that the client named.
  if (target.name === '') matchNamespace(store, object, target)
  else matchTarget(store, object, target)
  const { metadata } = object // admission may have replaced the metadata
  if (managedFields === undefined) delete metadata.managedFields
  else metadata.managedFields = managedFields
  const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== ''
  setSystemFields(store, metadata)
  for (let attempt = 1; ; attempt++) {
    if (generated) metadata.name = request.name = generatedName(metadata.generateName as string) // not empty: `generated`
    const made = await attemptCreate(store, object, target.namespace, request, admitted, context)
    if (made !== undefined) return made
    if (!generated) throw alreadyExists(store.resource, metadata.name ?? '', await isTerminating(store, store.key(target.namespace, metadata.name ?? '')))
    if (attempt === MAX_NAME_ATTEMPTS) throw noUniqueName(store.resource, metadata.name ?? '')
  }
}

/** Whether the existing object is terminating, so that the name may become free. */
async function isTerminating (store: ResourceStore, key: string): Promise<boolean> {
  try {
    const { kv } = await store.backend.get(key)
    return kv !== undefined && store.decode(kv, kv.modRevision).read().metadata.deletionTimestamp !== undefined
  } catch {
    return false // the name is taken even if the object can't be read
  }
}

function checkIdentity (store: ResourceStore, object: ApiObject, target: Target): void {
  const { metadata } = object
  if ((metadata.resourceVersion ?? '') !== '' && target.name === '') throw badRequest('resourceVersion should not be set on objects to be created')
  matchNamespace(store, object, target)
}

function setSystemFields (store: ResourceStore, metadata: ApiObject['metadata']): void {
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  delete metadata.clusterName
  metadata.uid = randomUUID()
  metadata.creationTimestamp = now(store)
}

/** The precondition of the last admission run. */
interface Admitted { precondition?: Precondition | undefined }

/** Undefined when the name is taken. */
async function attemptCreate (store: ResourceStore, object: ApiObject, namespace: string, request: AdmissionRequest, admitted: Admitted, context: WriteContext): Promise<Entry | undefined> {
  const findings = context.validate?.(object, undefined) ?? [] // before what has no effect is dropped
  prepareNew(store, object, context.user)
  if (isLarge(context.size ?? 0)) await nextTurn()
  const write = async (): Promise<Entry | undefined> => {
    await validateNew(store, object, context, findings)
    return await writeNew(store, object, namespace, request, admitted, context)
  }
  return store.allocation === undefined ? await write() : await allocating(store, object, undefined, context.dryRun, write, made => made !== undefined)
}

async function writeNew (store: ResourceStore, object: ApiObject, namespace: string, request: AdmissionRequest, admitted: Admitted, context: WriteContext): Promise<Entry | undefined> {
  const key = store.key(namespace, object.metadata.name ?? '')
  for (;;) {
    admitted.precondition = undefined
    await store.admission.validate(request)
    removeUnstoredEmpty(store.stored.message, object)
    if (!isKey(key)) refuse(store, object, [{ type: 'FieldValueTooLong', field: 'metadata.name', detail: 'the name is longer than the store can hold' }])
    const encoded = await encodeObject(store, object, store.unversioned(object))
    if (context.dryRun) {
      const { kv } = await store.backend.get(key)
      return kv === undefined ? store.unstored(key, object) : undefined
    }
    const expires = store.type.ttlSeconds === undefined ? undefined : await store.expiry()
    const { value, entry } = expectWrite(store, key, object, encoded)
    const { precondition } = admitted
    const result = await transact(store, context, 'create', () => createOn(precondition, store.backend, key, value, expires))
    if (result.succeeded) return entry(result.revision)
    if (admitted.precondition === undefined || result.current !== undefined) return undefined
    // The precondition has changed: validate again with the current state.
    if (context.caller.signal.aborted) throw timeout('the request ended while others kept changing the namespace; nothing was created')
  }
}

/** Registers the write with the cache before it is sent. The cache and the response share the entry, which the first of them creates. */
export function expectWrite (store: ResourceStore, key: string, object: ApiObject, { json, value }: EncodedObject): PendingWrite {
  const make = store.entries(key, object, json)
  let made: Entry | undefined
  const write: PendingWrite = {
    value,
    entry: revision => made?.revision === revision ? made : made = make(revision)
  }
  store.cache?.expectWrite(key, write)
  return write
}
