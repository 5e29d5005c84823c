/** Reads the current state of the objects that connections refer to. */
import type { Endpoints } from '../../schemas/api/core/endpoints.js'
import type { Node } from '../../schemas/api/core/nodes.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { Service } from '../../schemas/api/core/services.js'
import { badRequest, notFound } from '../../schemas/status.js'
import { current } from '../../registry/current.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'

interface Kinds { pods: Pod, services: Service, nodes: Node, endpoints: Endpoints }

/** Shared with the cache: treat as frozen. @throws StatusError 404 */
export async function find<K extends keyof Kinds> (
  resources: ResourceRegistry, plural: K, namespace: string, name: string
): Promise<Kinds[K]> {
  const store = resources.find('', plural)
  const entry = store === undefined ? undefined : await current(store, store.keys.of(namespace, name))
  if (entry === undefined) throw notFound({ group: '', resource: plural }, name)
  return entry.object as Kinds[K] // a store holds one type
}

/** Why a pod is on none. */
export const NO_NODES = ': there are no nodes that would run it'

export async function hasNodes (resources: ResourceRegistry): Promise<boolean> {
  const store = resources.find('', 'nodes')
  const { start, end } = store?.keys.range('') ?? { start: '', end: '' }
  return store !== undefined && await store.backend.count(start, end) > 0
}

/** Returns the requested container, or the pod's only one. @throws StatusError 400 */
export function containerOf ({ metadata: { name = '' }, spec }: Pod, requested: string): string {
  const names = [...spec.initContainers ?? [], ...spec.containers ?? [], ...spec.ephemeralContainers ?? []]
    .map(container => container.name)
  if (requested !== '') {
    if (!names.includes(requested)) throw badRequest(`container ${requested} is not valid for pod ${name}`)
    return requested
  }
  const [only, ...others] = spec.containers ?? []
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${name}`)
  if (others.length > 0) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  }
  return only.name
}

export interface Parts { readonly scheme: 'http' | 'https' | '', readonly name: string, readonly port: string }

/** Parses `name`, `name:port` or `scheme:name:port`. @throws StatusError 400 */
export function partsOf (kind: 'pod' | 'service' | 'node', id: string): Parts {
  const parts = id.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(id)}`)
  }
  return { scheme, name, port }
}
