/**
 * The objects a node may access because of a pod or a volume: all references of a pod, the claim and mount secrets of a
 * volume.
 */
import type { PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import type { Pod } from '../../schemas/api/core/pods.js'

/**
 * Marks mirror pods, which a node creates from local files: their references grant nothing, because the node could name
 * any object.
 */
export const MIRROR = 'orch.io/config.mirror'

export type ReferredResource =
  'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'serviceaccounts' | 'resourceclaims'

/** The key of a namespaced object that pods refer to. */
export const keyOf = (resource: ReferredResource, namespace: string, name: string): string =>
  `${resource}/${namespace}/${name}`

interface Named { readonly name?: string, readonly namespace?: string }
/** Members of volume sources of any kind that name secrets. */
interface Source {
  readonly secretName?: string
  readonly secretNamespace?: string
  readonly secretRef?: Named
  readonly nodePublishSecretRef?: Named
  readonly nodeStageSecretRef?: Named
}

/** Keys of the objects that the pod's node may access. */
export function podReferences (pod: Pod): Set<string> {
  return isMirrorPod(pod) ? new Set() : referencesOf(pod)
}

/** Whether a node agent created the pod from a local file. */
export const isMirrorPod = ({ metadata }: Pick<Pod, 'metadata'>): boolean =>
  metadata.annotations?.[MIRROR] !== undefined

/** Keys of the objects that the pod needs. */
export function referencesOf ({ metadata, spec, status }: Pod): Set<string> {
  const names = new Set<string>()
  const { namespace = '', name: podName = '' } = metadata
  const add = (resource: ReferredResource, name: string | undefined): void => {
    if (name !== undefined && name !== '') names.add(keyOf(resource, namespace, name))
  }
  add('serviceaccounts', spec.serviceAccountName)
  for (const { name } of spec.imagePullSecrets ?? []) add('secrets', name)
  for (const { env = [], envFrom = [] } of [
    ...spec.containers ?? [], ...spec.initContainers ?? [], ...spec.ephemeralContainers ?? []
  ]) {
    for (const { valueFrom } of env) {
      add('secrets', valueFrom?.secretKeyRef?.name)
      add('configmaps', valueFrom?.configMapKeyRef?.name)
    }
    for (const { secretRef, configMapRef } of envFrom) {
      add('secrets', secretRef?.name)
      add('configmaps', configMapRef?.name)
    }
  }
  for (const {
    name: volumeName, configMap, persistentVolumeClaim, ephemeral, projected, ...sources
  } of spec.volumes ?? []) {
    add('configmaps', configMap?.name)
    add('persistentvolumeclaims', persistentVolumeClaim?.claimName)
    if (ephemeral !== undefined) add('persistentvolumeclaims', `${podName}-${volumeName}`)
    for (const { secret, configMap } of projected?.sources ?? []) {
      add('secrets', secret?.name)
      add('configmaps', configMap?.name)
    }
    for (const source of membersOf(sources)) {
      add('secrets', source.secretName)
      add('secrets', source.secretRef?.name)
      add('secrets', source.nodePublishSecretRef?.name)
    }
  }
  for (const { resourceClaimName } of [...spec.resourceClaims ?? [], ...status.resourceClaimStatuses ?? []]) {
    add('resourceclaims', resourceClaimName)
  }
  add('resourceclaims', status.extendedResourceClaimStatus?.resourceClaimName)
  return names
}

export interface VolumeReferences { readonly claim: string, readonly secrets: ReadonlySet<string> }

/** Undefined for an unbound volume, which no pod can use. */
export function volumeReferences ({ spec }: PersistentVolume): VolumeReferences | undefined {
  const { claimRef } = spec
  if (claimRef === undefined) return undefined
  const { namespace: home = '', name = '' } = claimRef
  const secrets = new Set<string>()
  const add = (namespace: string | undefined, secret: string | undefined): void => {
    if (secret !== undefined && secret !== '') secrets.add(keyOf('secrets', namespace || home, secret))
  }
  for (const source of membersOf(spec)) {
    add(source.secretNamespace, source.secretName)
    // Secrets for attaching and expanding are not for nodes.
    for (const secret of [source.secretRef, source.nodePublishSecretRef, source.nodeStageSecretRef]) {
      add(secret?.namespace, secret?.name)
    }
  }
  return { claim: keyOf('persistentvolumeclaims', home, name), secrets }
}

/** The volume sources: all members that are objects. */
const membersOf = (volume: object): Source[] =>
  Object.values(volume).filter((value): value is Source => typeof value === 'object' && value !== null)
