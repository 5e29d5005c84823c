/** POST, and PUT of a name that does not exist: a new object. */
import { randomBytes, randomUUID } from 'node:crypto'
import { applyDefaults, validateObject } from '../../schemas/index.js'
import type { ApiObject } from '../../schemas/index.js'
import { alreadyExists, badRequest } from '../../schemas/status.js'
import type { Entry } from '../cache/entry.js'
import type { Offer } from '../cache/offers.js'
import { isKey } from '../key.js'
import type { ResourceStore } from '../resource-store.js'
import { admissionRequest, giveWay, refuse } from './context.js'
import type { Target, WriteContext } from './context.js'

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const MOST_BASE_LENGTH = 63 - SUFFIX_LENGTH
/** Another random suffix is tried this often when the generated name is taken. */
const NAME_ATTEMPTS = 8

function generatedName (base: string): string {
  let suffix = ''
  for (const byte of randomBytes(SUFFIX_LENGTH)) suffix += SUFFIX_LETTERS[byte % SUFFIX_LETTERS.length]
  return base.slice(0, MOST_BASE_LENGTH) + suffix
}

/** Seconds precision, as the wire has it. */
export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`

/**
 * Creates the object, which it may change in place.
 * @param target name: '' takes that of the object, or a generated one
 * @returns what is stored, or under dry run what would be
 * @throws StatusError 400, 409 AlreadyExists, 422, whatever admission refuses with; StorageError
 */
export async function create (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Entry> {
  const { metadata } = object
  const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== ''
  prepare(store, object, target)
  for (let attempt = 1; ; attempt++) {
    if (generated) metadata.name = generatedName(metadata.generateName as string) // not empty: `generated`
    const made = await attemptCreate(store, object, { ...target, name: metadata.name ?? '' }, context)
    if (made !== undefined) return made
    if (!generated || attempt === NAME_ATTEMPTS) throw alreadyExists(store.resource, metadata.name ?? '')
  }
}

function prepare (store: ResourceStore, object: ApiObject, target: Target): void {
  const { metadata } = object
  if ((metadata.resourceVersion ?? '') !== '' && target.name === '') throw badRequest('metadata.resourceVersion should not be set on objects to be created')
  if (store.definition.namespaced) {
    if ((metadata.namespace ?? '') === '') metadata.namespace = target.namespace
    else if (metadata.namespace !== target.namespace) throw badRequest(`the namespace of the provided object (${JSON.stringify(metadata.namespace)}) does not match the namespace sent on the request (${JSON.stringify(target.namespace)})`)
  } else if ((metadata.namespace ?? '') === '') {
    delete metadata.namespace
  }
  delete metadata.resourceVersion
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  delete metadata.managedFields // kept by the server once it tracks field ownership
  delete metadata.generation
  metadata.uid = randomUUID()
  metadata.creationTimestamp = now()
  store.strategy.prepareForCreate?.(object)
}

/** Undefined when the name is taken. */
async function attemptCreate (store: ResourceStore, object: ApiObject, target: Target, context: WriteContext): Promise<Entry | undefined> {
  const request = admissionRequest(store, context, target, 'CREATE', object, undefined)
  await store.admission.mutate(request)
  applyDefaults(store.definition.message, object)
  refuse(store, object, validateObject(store.definition, object))
  await giveWay(context.size ?? 0)
  await store.admission.validate(request)

  const key = store.key(target.namespace, object.metadata.name ?? '')
  if (!isKey(key)) refuse(store, object, [{ type: 'FieldValueTooLong', field: 'metadata.name', detail: 'the name is longer than the store can hold' }])
  if (context.dryRun) {
    const { kv } = await store.backend.get(key)
    return kv === undefined ? store.unstored(key, object) : undefined
  }
  const { value, entry } = offer(store, key, object)
  const result = await store.backend.create(key, value)
  return result.succeeded ? entry(result.revision) : undefined
}

/**
 * The bytes to store under the key, and the entry they become at the revision they get. The cache is offered
 * both before the write; whoever needs the entry first, the cache or the answer, makes it.
 */
export function offer (store: ResourceStore, key: string, object: ApiObject, json = store.splitJson(object)): Offer {
  const make = store.entries(key, object, json)
  let made: Entry | undefined
  const offered: Offer = {
    value: store.encode(object),
    entry: revision => made?.revision === revision ? made : made = make(revision)
  }
  store.cache?.offer(key, offered)
  return offered
}
