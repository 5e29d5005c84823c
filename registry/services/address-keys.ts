/**
 * The keys of a pool of addresses where each address that is taken is an object as well, an IPAddress that names its
 * service. The key stays the lock, so that servers of earlier releases beside this one see it; an address is taken if
 * either exists, since clients may reserve one by creating its object.
 */
import type { IPAddress } from '../../schemas/api/networking/v1.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isStatusError } from '../../schemas/status.js'
import type { KeyValue, Revision, WriteResult } from '../../storage/backend.js'
import { current } from '../current.js'
import type { ResourceStore } from '../resource-store.js'
import { create } from '../verbs/create.js'
import { remove } from '../verbs/delete.js'
import { serverContext } from '../write-context.js'
import { ownerOf, type Owner } from './pool.js'
import type { PoolKeys } from './trial-keys.js'

const FAMILY_LABEL = 'ipaddress.orch.io/ip-family'
const MANAGER_LABEL = 'ipaddress.orch.io/managed-by'
const MANAGER = 'ipallocator.orch.io'
const NEVER = new AbortController().signal

/** Whether the allocation of addresses made the object. */
export const isAllocated = ({ metadata: { labels = {} } }: IPAddress): boolean => labels[MANAGER_LABEL] === MANAGER

/** Whether the object says that a service has the address. */
const belongsTo = (
  { spec: { parentRef } }: IPAddress, { namespace, name }: Pick<Owner, 'namespace' | 'name'>
): boolean => parentRef !== undefined && (parentRef.group ?? '') === '' && parentRef.resource === 'services' &&
  parentRef.namespace === namespace && parentRef.name === name

/** Makes the object of an address. False if another one has the address. @throws StatusError, StorageError */
export async function makeAddress (
  store: ResourceStore, address: string, { namespace, name }: Pick<Owner, 'namespace' | 'name'>
): Promise<boolean> {
  const object: IPAddress = {
    kind: 'IPAddress', apiVersion: 'networking.orch.io/v1',
    metadata: {
      name: address,
      labels: { [FAMILY_LABEL]: address.includes(':') ? 'IPv6' : 'IPv4', [MANAGER_LABEL]: MANAGER }
    },
    spec: { parentRef: { group: '', resource: 'services', namespace, name } }
  }
  try {
    await create(store, object as ApiObject, { namespace: '', name: '' }, serverContext(NEVER))
    return true
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    const existing = await addressObject(store, address)
    return existing !== undefined && isAllocated(existing) && belongsTo(existing, { namespace, name })
  }
}

async function addressObject (store: ResourceStore, address: string): Promise<IPAddress | undefined> {
  const entry = await current(store, store.keys.of('', address))
  return entry === undefined ? undefined : store.entries.read(entry) as IPAddress // stores of addresses contain those
}

/** Removes the object of an address if it is this one. @throws StatusError, StorageError */
export async function removeAddress (
  store: ResourceStore, { metadata: { name = '', uid = '' } }: IPAddress
): Promise<void> {
  await remove(store, { namespace: '', name }, { preconditions: { uid } }, serverContext(NEVER))
    .catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error // another one by now
    })
}

export class AddressKeys implements PoolKeys {
  readonly get: PoolKeys['get']
  readonly list: PoolKeys['list']
  readonly #keys: PoolKeys
  readonly #scope: string
  readonly #objects: () => ResourceStore | undefined

  /** @param objects the IPAddresses; undefined while they are not served */
  constructor (keys: PoolKeys, scope: string, objects: () => ResourceStore | undefined) {
    this.#keys = keys
    this.#scope = scope
    this.#objects = objects
    this.get = key => keys.get(key)
    this.list = request => keys.list(request)
  }

  async create (key: string, value: Uint8Array): Promise<WriteResult> {
    const [result, store] = [await this.#keys.create(key, value), this.#objects()]
    if (!result.succeeded || store === undefined) return result
    const { revision } = result
    const kv: KeyValue = { key, value, createRevision: revision, modRevision: revision }
    const owner = ownerOf(kv)
    try {
      if (owner === undefined || await makeAddress(store, key.slice(this.#scope.length), owner)) return result
    } catch (error) {
      await this.#keys.delete(key, revision)
      throw error
    }
    await this.#keys.delete(key, revision)
    return { succeeded: false, revision, current: kv }
  }

  async delete (key: string, revision: Revision): Promise<WriteResult> {
    const store = this.#objects()
    const { kv } = store === undefined ? { kv: undefined } : await this.#keys.get(key)
    const owner = kv === undefined || kv.modRevision !== revision ? undefined : ownerOf(kv)
    if (store !== undefined && owner !== undefined) {
      const object = await addressObject(store, key.slice(this.#scope.length))
      if (object !== undefined && isAllocated(object) && belongsTo(object, owner)) await removeAddress(store, object)
    }
    return await this.#keys.delete(key, revision)
  }
}
