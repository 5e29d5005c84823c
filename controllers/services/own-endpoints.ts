/** Maintains Endpoints and EndpointSlice of the server's own service. */
import { sameValue } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { WriteContext } from '../../registry/write-context.js'
import { create } from '../../registry/verbs/create.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { ignoring } from '../races.js'

export const PORT_NAME = 'https'
/** Prevents the mirroring controller from creating a second slice. */
const SKIP_MIRROR = { 'endpointslice.orch.io/skip-mirror': 'true' }

interface Subset { readonly addresses?: ReadonlyArray<{ readonly ip: string }> }

export interface Place {
  readonly namespace: string
  readonly name: string
  readonly port: number
  /** Slices contain addresses of one family only. */
  readonly addressType: 'IPv4' | 'IPv6'
}

const ENDPOINTS = { group: '', plural: 'endpoints', kind: 'Endpoints', apiVersion: 'v1' }
/** In the stored version. */
const SLICES = {
  group: 'discovery.orch.io', plural: 'endpointslices', kind: 'EndpointSlice', apiVersion: 'discovery.orch.io/v1beta1'
}

export class OwnEndpoints {
  readonly #resources: ResourceRegistry
  readonly #place: Place

  constructor (resources: ResourceRegistry, place: Place) {
    this.#resources = resources
    this.#place = place
  }

  /** The published addresses, if they have the form that servers write. @throws StorageError */
  async published (): Promise<readonly string[]> {
    const store = this.#resources.find('', 'endpoints')
    const entry = store === undefined
      ? undefined
      : await current(store, store.keys.of(this.#place.namespace, this.#place.name))
    const { subsets = [] }: { subsets?: Subset[] } = store === undefined || entry === undefined
      ? {}
      : store.entries.read(entry) as ApiObject & { subsets?: Subset[] }
    return subsets.length === 1 ? (subsets[0]?.addresses ?? []).map(({ ip }) => ip) : []
  }

  /** Publishes the addresses. @throws StatusError, StorageError */
  async publish (addresses: readonly string[], context: WriteContext): Promise<void> {
    const { name, port, addressType } = this.#place
    const ports = [{ name: PORT_NAME, port, protocol: 'TCP' }]
    const subsets = addresses.length === 0 ? undefined : [{ addresses: addresses.map(ip => ({ ip })), ports }]
    await this.#ensure(ENDPOINTS, SKIP_MIRROR, { subsets }, context)
    const ofFamily = addresses.filter(ip => ip.includes(':') === (addressType === 'IPv6'))
    const endpoints = ofFamily.map(ip => ({ addresses: [ip], conditions: { ready: true } }))
    await this.#ensure(SLICES, { 'orch.io/service-name': name }, { addressType, endpoints, ports }, context)
  }

  async #ensure (
    type: typeof ENDPOINTS, labels: Record<string, string>, fields: object, context: WriteContext
  ): Promise<void> {
    const { group, plural, kind, apiVersion } = type
    const { namespace, name } = this.#place
    const store = this.#resources.find(group, plural)
    if (store === undefined) return
    const entry = await current(store, store.keys.of(namespace, name))
    const fresh = { kind, apiVersion, metadata: { name, namespace, labels }, ...fields }
    if (entry === undefined) {
      await create(store, fresh, { namespace, name: '' }, context).catch(ignoring('AlreadyExists', 'NotFound'))
      return
    }
    if (isUpToDate(store.entries.read(entry), labels, fields)) return
    await change(store, { namespace, name }, context, base => {
      const object = base.copy()
      return Object.assign(object, fields, {
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } }
      })
    }).catch(ignoring('AlreadyExists', 'NotFound'))
  }
}

function isUpToDate (object: ApiObject, labels: Record<string, string>, fields: object): boolean {
  return Object.entries(labels).every(([key, value]) => object.metadata.labels?.[key] === value) &&
    Object.entries(fields)
      .every(([name, value]) => sameValue((object as unknown as Record<string, unknown>)[name] ?? undefined, value))
}
