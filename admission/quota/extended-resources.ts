/**
 * Extended resources of device classes: each class has one by its own name, and may name another. Containers ask for
 * them, or claims for devices of the class; a quota limits both together.
 */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { DeviceClass, ResourceClaim } from '../../schemas/api/resource/v1.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'

const GROUP = 'resource.orch.io'
/** Set on claims that a scheduler makes for the extended resources of a pod. */
const MADE_FOR_POD = 'resource.orch.io/extended-resource-claim'
export const REQUESTS = 'requests.'
/** Of the resource that a class has by its own name, in containers. */
export const BY_CLASS = 'deviceclass.resource.orch.io/'
export const OF_CLASS = REQUESTS + BY_CLASS

export interface ExtendedResources {
  /** The names by which quotas count a device of a class. */
  readonly namesOf: (className: string) => readonly string[]
  /** Those by which the pod is charged that a claim was made for. */
  readonly paidByPod: (claim: ResourceClaim) => ReadonlySet<string>
}

/** Undefined where classes have none. Reads what is cached. */
export function extendedResources (resources: ResourceRegistry): ExtendedResources | undefined {
  const classes = resources.find(GROUP, 'deviceclasses')
  if (classes?.gates.enabled('DRAExtendedResource') !== true) return undefined
  const read = (group: string, plural: string, namespace: string, name: string): ApiObject | undefined => {
    const store = resources.find(group, plural)
    const entry = store?.cache?.snapshot.map.get(store.keys.of(namespace, name))
    return entry === undefined ? undefined : store?.entries.read(entry)
  }
  return {
    namesOf: className => {
      const deviceClass = read(GROUP, 'deviceclasses', '', className) as DeviceClass | undefined // the resource's type
      const own = deviceClass?.spec.extendedResourceName
      return [OF_CLASS + className, ...own === undefined ? [] : [REQUESTS + own]]
    },
    paidByPod: ({ metadata: { name, namespace = '', annotations = {}, ownerReferences = [] } }) => {
      const owner = annotations[MADE_FOR_POD] !== 'true'
        ? undefined
        : ownerReferences.find(({ controller, kind, apiVersion }) =>
            controller === true && kind === 'Pod' && apiVersion === 'v1')
      if (owner === undefined) return new Set()
      const pod = read('', 'pods', namespace, owner.name) as Pod | undefined // the resource's type
      if (pod?.metadata.uid !== owner.uid) return new Set()
      const { spec: { containers = [], initContainers = [] }, status: { extendedResourceClaimStatus: claim } } = pod
      if (claim !== undefined && claim.resourceClaimName !== name) return new Set()
      return new Set([...containers, ...initContainers].flatMap(({ resources: { requests = {} } }) =>
        Object.keys(requests).map(resource => REQUESTS + resource)))
    }
  }
}
