/** The status of a pod. */
import { int32, int64, map, one, bool, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Time } from '../../meta/scalars.js'
import { Quantity } from '../../meta/quantity.js'
import { kind, message } from './package.js'
import { ResourceRequirements } from './resource-requirements.js'
import { ResourceStatus } from './restarts.js'
import { SIGNALS } from './rules/signals.js'

export type ContainerStateWaiting = Static<typeof ContainerStateWaiting>
export const ContainerStateWaiting = message('ContainerStateWaiting', 'State of a container that waits to start.', {
  reason: string(1, 'Why the container does not run yet, in one word.'),
  message: string(2, 'Why the container does not run yet, for a person.')
})

export type ContainerStateRunning = Static<typeof ContainerStateRunning>
export const ContainerStateRunning = message('ContainerStateRunning', 'State of a running container.', {
  startedAt: one(1, 'When the container was last started.', Time)
})

export type ContainerStateTerminated = Static<typeof ContainerStateTerminated>
export const ContainerStateTerminated = message('ContainerStateTerminated', 'State of a container that has ended.', {
  exitCode: int32(1, 'Exit status of the container.', { required: true }),
  signal: int32(2, 'Signal that ended the container.'),
  reason: string(3, 'Why the container ended, in one word.'),
  message: string(4, 'Message about how the container ended.'),
  startedAt: one(5, 'When that run of the container started.', Time),
  finishedAt: one(6, 'When the container ended.', Time),
  containerID: string(7, 'ID of the container, prefixed with its runtime.')
})

export type ContainerState = Static<typeof ContainerState>
export const ContainerState = message('ContainerState', 'State of a container; one of its members is set.', {
  waiting: one(1, 'Details of a container that is not yet running.', ContainerStateWaiting, { pointer: true }),
  running: one(2, 'Details of a running container.', ContainerStateRunning, { pointer: true }),
  terminated: one(3, 'Details of a container that has ended.', ContainerStateTerminated, { pointer: true })
})

export type ImageVolumeStatus = Static<typeof ImageVolumeStatus>
export const ImageVolumeStatus = message('ImageVolumeStatus', 'Which image is mounted.', {
  imageRef: string(1, 'The image with its digest.', { required: true, ruled: true })
})

export type VolumeStatus = Static<typeof VolumeStatus>
export const VolumeStatus = message('VolumeStatus', 'State of a mounted volume; one member is set.', {
  image: one(1, 'State of an image volume.', ImageVolumeStatus, { pointer: true, gate: 'ImageVolumeWithDigest' })
})

export type VolumeMountStatus = Static<typeof VolumeMountStatus>
export const VolumeMountStatus = message('VolumeMountStatus', 'How a volume is mounted into a container.', {
  name: string(1, 'Name of the mount.', { required: true, mayBeEmpty: true }),
  mountPath: string(2, 'Path in the container.', { required: true, mayBeEmpty: true }),
  readOnly: bool(3, 'Whether the mount is read-only.'),
  recursiveReadOnly: string(4, 'Whether mounts below are read-only too: Disabled or Enabled.', {
    pointer: true, values: ['Disabled', 'IfPossible', 'Enabled']
  }),
  volumeStatus: one(5, 'State of the volume.', VolumeStatus, { pointer: true })
})

export type LinuxContainerUser = Static<typeof LinuxContainerUser>
export const LinuxContainerUser = message('LinuxContainerUser', 'User and groups of a process on Linux.', {
  uid: int64(1, 'UID of the first process.', { required: true }),
  gid: int64(2, 'GID of the first process.', { required: true }),
  supplementalGroups: list(3, 'Further GIDs of the first process.', 'int64', { listType: 'atomic' })
})

export type ContainerUser = Static<typeof ContainerUser>
export const ContainerUser = message('ContainerUser', 'User and groups of a container.', {
  linux: one(1, 'On Linux.', LinuxContainerUser, { pointer: true })
})

const RESIZE = { gate: 'InPlacePodVerticalScaling', since: '1.27' } as const

export type ContainerStatus = Static<typeof ContainerStatus>
export const ContainerStatus = message('ContainerStatus', 'What is observed of a container.', {
  name: string(1, 'Name of the container.', { required: true, mayBeEmpty: true }),
  state: one(2, 'State of the container now.', ContainerState),
  lastState: one(3, 'How the container last ended.', ContainerState),
  ready: bool(4, 'Whether the container passes its readiness probe.', { required: true }),
  restartCount: int32(5, 'How often the container was restarted.', { required: true }),
  image: string(6, 'Image the container runs.', { required: true, mayBeEmpty: true }),
  imageID: string(7, 'ID of the image the container runs.', { required: true, mayBeEmpty: true }),
  containerID: string(8, 'ID of the container, prefixed with its runtime.'),
  started: bool(9, 'Whether the container passed its startup probe.', { pointer: true }),
  allocatedResources: map(10, 'What the node has set aside for the container, by resource name.', Quantity, RESIZE),
  resources: one(11, 'Requests and limits in force.', ResourceRequirements, { pointer: true, ...RESIZE }),
  volumeMounts: list(12, 'How the volumes are mounted.', VolumeMountStatus, {
    listType: 'map', listMapKeys: ['mountPath'], patchStrategy: 'merge', patchMergeKey: 'mountPath',
    gate: 'RecursiveReadOnlyMounts', since: '1.30'
  }),
  user: one(13, 'Users and groups that the container began with.', ContainerUser, {
    pointer: true, gate: 'SupplementalGroupsPolicy', since: '1.31'
  }),
  allocatedResourcesStatus: list(14, 'Health of the devices of the container.', ResourceStatus, {
    listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name',
    gate: 'ResourceHealthStatus', since: '1.31'
  }),
  stopSignal: string(15, 'Signal that stops the container.', {
    pointer: true, values: SIGNALS, closed: 'ruled', gate: 'ContainerStopSignals', since: '1.33'
  })
})

const POD_LEVEL = { gate: 'InPlacePodLevelResourcesVerticalScaling', since: '1.35' } as const
const OBSERVED = { gate: 'PodObservedGenerationTracking', since: '1.33' } as const

export type PodCondition = Static<typeof PodCondition>
export const PodCondition = message('PodCondition', 'A finding about a pod.', {
  type: string(1, 'Type of the condition, such as PodScheduled, Initialized, ContainersReady or Ready.', {
    required: true, mayBeEmpty: true, values: ['ContainersReady', 'Initialized', 'Ready', 'PodScheduled']
  }),
  observedGeneration: int64(7, 'Generation of the pod that the finding is about.', OBSERVED),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastProbeTime: one(3, 'When it was last checked.', Time),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

export type PodIP = Static<typeof PodIP>
export const PodIP = message('PodIP', 'An IP address of a pod.', {
  ip: string(1, 'IPv4 or IPv6 address.', { holds: 'ip' })
})

export type HostIP = Static<typeof HostIP>
export const HostIP = message('HostIP', 'An IP address of a node.', {
  ip: string(1, 'IPv4 or IPv6 address.', { required: true, ruled: true, holds: 'ip' })
})

export type PodResourceClaimStatus = Static<typeof PodResourceClaimStatus>
export const PodResourceClaimStatus = message('PodResourceClaimStatus', 'Which claim was made for a pod.', {
  name: string(1, 'Name of the claim in resourceClaims of the pod.', { required: true, ruled: true }),
  resourceClaimName: string(2, 'The ResourceClaim; unset if none was needed.', { pointer: true })
})

export type ContainerExtendedResourceRequest = Static<typeof ContainerExtendedResourceRequest>
export const ContainerExtendedResourceRequest =
  message('ContainerExtendedResourceRequest', 'Which request stands for a resource of a container.', {
    containerName: string(1, 'The container.', { required: true, mayBeEmpty: true }),
    resourceName: string(2, 'The resource that the container asks for.', { required: true, mayBeEmpty: true }),
    requestName: string(3, 'The request of the claim.', { required: true, mayBeEmpty: true })
  })

export type PodExtendedResourceClaimStatus = Static<typeof PodExtendedResourceClaimStatus>
export const PodExtendedResourceClaimStatus =
  message('PodExtendedResourceClaimStatus', 'The claim that was made for extended resources of a pod.', {
    requestMappings: list(1, 'Which request stands for which resource.', ContainerExtendedResourceRequest, {
      required: true, mayBeEmpty: true, listType: 'atomic'
    }),
    resourceClaimName: string(2, 'The ResourceClaim.', { required: true, mayBeEmpty: true })
  })

export type NodeAllocatableResourceClaimStatus = Static<typeof NodeAllocatableResourceClaimStatus>
export const NodeAllocatableResourceClaimStatus =
  message('NodeAllocatableResourceClaimStatus', 'What of a node a claim takes for a pod.', {
    resourceClaimName: string(1, 'The ResourceClaim.', { required: true, mayBeEmpty: true }),
    containers: list(2, 'The containers that use it.', 'string', { listType: 'set' }),
    resources: map(3, 'What it takes, by resource name.', Quantity, { required: true })
  })

export type PodStatus = Static<typeof PodStatus>
export const PodStatus = message('PodStatus', 'What is observed of a pod.', {
  observedGeneration: int64(17, 'Generation of the pod that the node agent acted on.', OBSERVED),
  phase: string(1, 'Where the pod stands: Pending, Running, Succeeded, Failed or Unknown.', {
    values: ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'], closed: true, ruled: true
  }),
  conditions: list(2, 'What was found about the pod, such as Ready.', PodCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  message: string(3, 'Why the pod is in this state, for a person.'),
  reason: string(4, 'Why the pod is in this state, such as Evicted.'),
  nominatedNodeName: string(11, 'Node where other pods are evicted to make room for it.'),
  hostIP: string(5, 'Address of the node the pod runs on.'),
  hostIPs: list(16, 'Addresses of the node, at most one for each IP family.', HostIP, {
    listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'ip', since: '1.28'
  }),
  podIP: string(6, 'Address of the pod in the cluster.'),
  podIPs: list(12, 'All addresses of the pod, at most one per IP family.', PodIP, {
    patchStrategy: 'merge', patchMergeKey: 'ip'
  }),
  startTime: one(7, 'When the node agent took over the pod.', Time, { pointer: true }),
  initContainerStatuses: list(10, 'State of each init container.', ContainerStatus),
  containerStatuses: list(8, 'State of each container.', ContainerStatus),
  qosClass: string(9, 'Quality of service class: Guaranteed, Burstable or BestEffort.', {
    values: ['Guaranteed', 'Burstable', 'BestEffort'], closed: true, ruled: true
  }),
  ephemeralContainerStatuses: list(13, 'State of each ephemeral container.', ContainerStatus),
  resize: string(14, 'Deprecated: how a resize is getting on; conditions say so.', {
    values: ['InProgress', 'Deferred', 'Infeasible'], gate: 'InPlacePodVerticalScaling', since: '1.27'
  }),
  resourceClaimStatuses: list(15, 'Which claims were made for the pod.', PodResourceClaimStatus, {
    listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge,retainKeys', patchMergeKey: 'name',
    gate: 'DynamicResourceAllocation', since: '1.28'
  }),
  extendedResourceClaimStatus: one(
    18, 'The claim that was made for extended resources.', PodExtendedResourceClaimStatus,
    { pointer: true, gate: 'DRAExtendedResource', since: '1.34' }
  ),
  allocatedResources: map(19, 'What the node has set aside for the pod, by resource name.', Quantity, POD_LEVEL),
  resources: one(20, 'Requests and limits in force for the whole pod.', ResourceRequirements, {
    pointer: true, ...POD_LEVEL
  }),
  nodeAllocatableResourceClaimStatuses: list(
    21, 'What claims take of the node.', NodeAllocatableResourceClaimStatus,
    { listType: 'atomic', gate: 'DRANodeAllocatableResources', since: '1.36' }
  )
}, { defaults: status => { alignAddresses(status) } })

/** Makes podIP and the first of podIPs agree; podIP takes precedence, because older node agents set only that. */
function alignAddresses (status: { podIP?: string | undefined, podIPs?: PodIP[] | undefined }): void {
  const { podIP = '', podIPs: [first] = [] } = status
  if (podIP !== '' && podIP !== first?.ip) status.podIPs = [{ ip: podIP }]
  else if (podIP === '' && first?.ip !== undefined) status.podIP = first.ip
}

export const podAddress = ({ podIP, podIPs }: PodStatus): string => podIP || podIPs?.[0]?.ip || ''

export type PodStatusResult = Static<typeof PodStatusResult>
export const PodStatusResult = kind('PodStatusResult', 'Status of a pod, on its own.', {
  metadata,
  status: one(2, 'What is observed of the pod; written by the system.', PodStatus)
})
