/** Creates objects: POST, and PUT of a missing name. */
import { randomUUID } from 'node:crypto'
import type { ApiObject } from '../../schemas/resource.js'
import { alreadyExists, badRequest, noUniqueName } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import type { Manager } from '../apply/managers.js'
import type { ResourceStore } from '../resource-store.js'
import { ADMIT, ADMIT_AGAIN } from '../stages/admit.js'
import { ALLOCATE_NEW, COMMIT } from '../stages/allocate.js'
import { DECODING } from '../stages/convert.js'
import { encodeNew } from '../stages/encode.js'
import { measure } from '../stages/object-limits.js'
import { keepOwners, ownNew } from '../stages/own.js'
import { mergeOwnerReferences } from '../stages/owner-references.js'
import { complete, prepareNew } from '../stages/prepare.js'
import { Repeat, runStages, type Stage } from '../stages/run.js'
import { LEASE, STORE_NEW } from '../stages/store.js'
import { SUFFIX_LENGTH, randomSuffix } from '../stages/suffix.js'
import { validateNew } from '../stages/validate.js'
import { CreateWrite, type Sent } from '../stages/writes.js'
import { now, type ObjectWrite, type Target, type WriteContext } from '../write-context.js'
import { matchNamespace, matchTarget } from '../stages/identity.js'

const NAME = 'name'

/** The order of a creation. */
export const CREATE: ReadonlyArray<Stage<CreateWrite>> = [
  ...DECODING,
  { name: 'identify', run: identify },
  { name: 'measure', run: measure },
  { name: 'own', run: ownNew },
  ADMIT,
  { name: 'default', run: complete },
  { name: 'identify again', run: identifyAgain },
  { name: NAME, run: setName },
  { name: 'prepare', run: prepareNew },
  ALLOCATE_NEW,
  { name: 'validate', isLong: true, run: validateNew },
  ADMIT_AGAIN,
  { name: 'encode', run: encodeNew },
  LEASE,
  STORE_NEW,
  { name: 'conclude', run: conclude },
  COMMIT
]

/**
 * @param object in the stored version, which is changed in place, or decodes the object that a client sent
 * @param target name: '' uses the object's own or generates one
 * @returns the stored object, or under dry run the object that would be stored
 * @throws StatusError 400, 409 AlreadyExists, 422, any admission refusal; StorageError
 */
export async function create (
  store: ResourceStore, object: ApiObject | Sent, target: Target, context: WriteContext
): Promise<Entry> {
  return await run(new CreateWrite(store, object, target, context))
}

/** Creates an applied object with these managers; admission adds none. */
export async function createApplied (
  { store, target, context }: ObjectWrite, object: ApiObject, managers: readonly Manager[]
): Promise<Entry> {
  const write = new CreateWrite(store, object, target, context)
  write.applied = managers
  return await run(write)
}

async function run (write: CreateWrite): Promise<Entry> {
  await runStages(CREATE, write)
  if (write.result === undefined) throw new TypeError('a creation ended without a result')
  return write.result
}

/** @throws StatusError 400 */
export function identify (write: CreateWrite): void {
  const { store, object, target, context } = write
  write.chosenName = object.metadata.name ?? ''
  if ((object.metadata.resourceVersion ?? '') !== '' && target.name === '') {
    throw badRequest('resourceVersion should not be set on objects to be created')
  }
  matchNamespace(store, object, target)
  mergeOwnerReferences(object, context.caller)
}

/**
 * Admission may have replaced the metadata, but must not rename an object that the client named.
 * @throws StatusError 400
 */
export function identifyAgain (write: CreateWrite): void {
  const { store, object, target, object: { metadata } } = write
  if (target.name === '') matchNamespace(store, object, target)
  else matchTarget(store, object, target)
  keepOwners(write)
  write.isGenerated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== ''
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  delete metadata.clusterName
  metadata.uid = randomUUID()
  metadata.creationTimestamp = now(store)
}

const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH

/** Each attempt has another suffix. */
export function setName (write: CreateWrite): void {
  const { isGenerated, object: { metadata } } = write
  if (!isGenerated) return
  metadata.name = write.chosenName = (metadata.generateName ?? '').slice(0, MAX_BASE_LENGTH) + randomSuffix()
}

/** Attempts with another suffix when a generated name is taken. */
const MAX_NAME_ATTEMPTS = 8

/** Answers with the new object, or begins again. @throws StatusError 409 */
export async function conclude (write: CreateWrite): Promise<void> {
  const { store, key, object, object: { metadata: { name = '' } }, outcome, precondition, isGenerated } = write
  if (outcome === undefined) {
    const { kv } = await store.backend.get(key)
    if (kv === undefined) {
      write.result = store.unstored(key, object)
      return
    }
  } else if (outcome.succeeded) {
    write.result = write.encoded?.entry(outcome.revision)
    return
  } else if (precondition !== undefined && outcome.current === undefined) {
    throw new Repeat(ADMIT_AGAIN.name) // with the current state of what it depends on
  }
  if (!isGenerated) throw alreadyExists(store.resource, name, await isTerminating(store, key))
  if (write.attempt++ === MAX_NAME_ATTEMPTS) throw noUniqueName(store.resource, name)
  throw new Repeat(NAME)
}

/** Whether the existing object is terminating, so that the name may become free. */
async function isTerminating (store: ResourceStore, key: string): Promise<boolean> {
  try {
    const { kv } = await store.backend.get(key)
    if (kv === undefined) return false
    return store.readStored(store.decode(kv, kv.modRevision)).metadata.deletionTimestamp !== undefined
  } catch {
    return false // the name is taken even if the object can't be read
  }
}
